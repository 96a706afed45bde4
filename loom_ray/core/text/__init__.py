"""What does a statement say, in any script? Canonical form, words, values and their differences."""
