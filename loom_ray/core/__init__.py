"""What is true, and what does a write change? Pure: no clock, random, disk, network or Ray."""
