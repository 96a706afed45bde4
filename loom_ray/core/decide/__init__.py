"""What does a request change? Pure: the state, the request, its neighbours and the time in; records and answer out."""
