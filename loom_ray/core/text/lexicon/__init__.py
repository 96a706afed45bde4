"""What does a language know that no grammar says? Tables of words, one file a question; data, no decisions."""
