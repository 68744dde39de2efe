"""Events: reports of ReliefWeb and earthquakes of USGS."""
