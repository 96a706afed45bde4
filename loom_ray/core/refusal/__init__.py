"""What may no write store, however it is disguised? Pure: patterns and texts in, the pattern that refuses out."""
