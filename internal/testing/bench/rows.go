package main

func atMost(limit float64) goal     { return goal{limit: limit} }
func mostTimes(limit float64) goal  { return goal{limit: limit, times: true} }
func leastTimes(limit float64) goal { return goal{limit: limit, times: true, least: true} }
func atLeast(limit float64) goal    { return goal{limit: limit, least: true} }

// The rows of the table and what podd should reach in each.
var (
	rowStepWall     = &row{"one tool step, ms", mostTimes(1.3)}
	rowStepCPU      = &row{"one tool step, CPU ms", mostTimes(1.4)}
	rowGrowth       = &row{"a step of 50 to 200 over one of 5 to 50", atMost(1.1)}
	rowConfinedStep = &row{"one tool step in the default sandbox, ms", goal{}}
	rowMany         = &row{"10 pods at once, steps/s", leastTimes(0.75)}
	rowSlow         = &row{"20 pods, a model that takes 200 ms: wall over ideal", atMost(1.08)}
	rowTurn         = &row{"warm turn without a tool, ms", mostTimes(1.5)}
	rowNewPod       = &row{"new pod and first turn, ms", mostTimes(2)}
	rowReady        = &row{"start to ready, ms", atMost(60)}
	rowIdleRSS      = &row{"idle memory, RSS MB", atMost(40)}
	rowIdleAnon     = &row{"idle memory, anonymous MB", atMost(12)}
	rowIdleCPU      = &row{"idle CPU, ms/s", atMost(0.1)}
	rowPodMemory    = &row{"anonymous memory a further pod, MB", atMost(0.1)}
	rowOneShot      = &row{"`submit -f` of the command line over /bin/true, ms", mostTimes(2)}
	rowConnections  = &row{"TCP connections for 51 requests", atMost(1)}
	rowFirstRequest = &row{"first request, system and tools, bytes", atMost(10_000)}
	rowSyncs        = &row{"fdatasync a step", atMost(4)}

	rowScaleReady    = &row{"10,000 pods: start to ready, ms", atMost(300)}
	rowScaleList     = &row{"10,000 pods: list, ms", atMost(50)}
	rowScaleMemory   = &row{"10,000 pods, 100 active: anonymous MB", atMost(100)}
	rowScalePassive  = &row{"a pod that is not loaded, anonymous KB", atMost(4)}
	rowScaleOpen     = &row{"100,000 entries, compacted: opening and first turn, ms", goal{}}
	rowScaleOpenMore = &row{"the same less that of 1,000 entries, ms", atMost(5)}
	rowScaleTail     = &row{"100,000 entries: `tail -n 10` of the command line, ms", atMost(20)}
	rowScaleStreams  = &row{"100 streams on a pod, a model that takes 200 ms: a turn over one stream's", atMost(1.05)}
	rowScaleBusy     = &row{"the same with a model that takes nothing", goal{}}
	rowScaleAppend   = &row{"64 pods appending, entries/s", atLeast(20_000)}
)

// streamed are the lengths of answers, in tokens, and their rows.
var streamed = []struct {
	tokens     int
	speed, cpu *row
}{
	{2_000, &row{"stream of 2,000 tokens, tokens/s", leastTimes(3)}, &row{"stream of 2,000 tokens, CPU us a token", mostTimes(0.5)}},
	{20_000, &row{"stream of 20,000 tokens, tokens/s", leastTimes(3)}, &row{"stream of 20,000 tokens, CPU us a token", mostTimes(0.5)}},
	{100_000, &row{"stream of 100,000 tokens, tokens/s", leastTimes(3)}, &row{"stream of 100,000 tokens, CPU us a token", mostTimes(0.5)}},
}
