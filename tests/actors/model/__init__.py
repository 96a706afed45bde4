"""What must a namespace do? A second, small opinion written from the documentation, to hold the real one against."""
