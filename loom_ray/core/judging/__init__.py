"""Are two statements the same, different, or about different things? Pure judging of a write against its peers."""
