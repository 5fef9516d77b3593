package main

func atMost(limit float64) goal    { return goal{limit: limit} }
func mostTimes(limit float64) goal { return goal{limit: limit, times: true} }

// The rows of the table and what podd should reach in each.
var (
	rowStepWall     = &row{"one tool step, ms", mostTimes(1.3)}
	rowStepCPU      = &row{"one tool step, CPU ms", mostTimes(1.4)}
	rowGrowth       = &row{"a step from 50 to 200 over one from 5 to 50", atMost(1.1)}
	rowConfinedStep = &row{"one tool step in the default sandbox, ms", goal{}}
)
