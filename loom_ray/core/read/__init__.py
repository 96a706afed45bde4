"""What does a reader see? Pure: the state and the request in, the answer out."""
