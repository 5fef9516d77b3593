package main

func atMost(limit float64) goal              { return goal{limit: limit} }
func mostTimes(limit float64, of base) goal  { return goal{limit: limit, of: of} }
func leastTimes(limit float64, of base) goal { return goal{limit: limit, of: of, least: true} }
func atLeast(limit float64) goal             { return goal{limit: limit, least: true} }

// The rows of the table and what podd should reach in each.
var (
	rowStepWall     = &row{name: "one tool step, ms", goal: mostTimes(1.3, ofFloor)}
	rowStepCPU      = &row{name: "one tool step, CPU ms", goal: mostTimes(1.4, ofFloor)}
	rowGrowth       = &row{name: "a step of 50 to 200 over one of 5 to 50", goal: atMost(1.1)}
	rowMany         = &row{name: "10 pods at once, steps/s", goal: leastTimes(0.85, ofFloor)}
	rowSlow         = &row{name: "20 pods, a model that takes 200 ms: wall over ideal", goal: atMost(1.08)}
	rowTurn         = &row{name: "warm turn without a tool, ms", goal: mostTimes(2, ofOwn)}
	rowNewPod       = &row{name: "new pod and first turn, ms", goal: mostTimes(2, ofFloor)}
	rowReady        = &row{name: "start to ready, ms", goal: atMost(60)}
	rowIdleRSS      = &row{name: "idle memory, RSS MB", goal: atMost(40)}
	rowIdleAnon     = &row{name: "idle memory, anonymous MB", goal: atMost(12)}
	rowIdleCPU      = &row{name: "idle CPU, ms/s", goal: atMost(0.1)}
	rowTriggers     = &row{name: "1,000 triggers that wait, CPU ms/s", goal: atMost(0.1)}
	rowPodMemory    = &row{name: "anonymous memory a further pod, MB", goal: atMost(0.1)}
	rowOneShot      = &row{name: "`submit -f` of the command line over /bin/true, ms", goal: mostTimes(2, ofFloor)}
	rowConnections  = &row{name: "TCP connections for 51 requests", goal: atMost(1)}
	rowFirstRequest = &row{name: "first request, system and tools, bytes", goal: atMost(10_000)}
	rowSyncs        = &row{name: "fdatasync a step", goal: atMost(4)}

	rowWorkRSS     = &row{name: "200 pods after five turns each: RSS MB", goal: atMost(60)}
	rowWorkPod     = &row{name: "the same: anonymous memory a pod, MB", goal: atMost(0.1)}
	rowWorkGrowth  = &row{name: "CPU of steps 1,800 to 2,000 of a turn over 100 to 300", goal: atMost(1.15)}
	rowWorkWritten = &row{name: "written to the database a step, KiB", goal: atMost(42)}

	rowFilesSame = &row{name: "10,000 files, none changed: a look of a checkpoint, p95 ms", goal: atMost(5)}
	rowFilesTen  = &row{name: "10,000 files, ten changed: a checkpoint, p95 ms", goal: atMost(60)}
	rowFilesStep = &row{name: "a step of `echo` over one without checkpoints", goal: atMost(1.1)}
	rowFilesMade = &row{name: "a step that writes a file over one without checkpoints", goal: atMost(1.1)}

	rowScaleReady    = &row{name: "10,000 pods: start to ready, ms", goal: atMost(300)}
	rowScaleList     = &row{name: "10,000 pods: list, ms", goal: atMost(150)}
	rowScaleMemory   = &row{name: "10,000 pods, 100 active: anonymous MB", goal: atMost(100)}
	rowScalePassive  = &row{name: "a pod that is not loaded, anonymous KB", goal: atMost(4)}
	rowScaleOpen     = &row{name: "100,000 entries, compacted: opening and first turn, ms"}
	rowScaleOpenMore = &row{name: "the same less that of 1,000 entries, ms", goal: atMost(5)}
	rowScaleTail     = &row{name: "100,000 entries: `tail -n 10` of the command line, ms", goal: atMost(20)}
	rowScaleStreams  = &row{name: "100 streams on a pod, a model that takes 200 ms: a turn over one stream's", goal: atMost(1.05)}
	rowScaleBusy     = &row{name: "the same with a model that takes nothing"}
	rowSearchHalf    = &row{name: "1 GiB of logs: a search, p50 ms"}
	rowSearchMost    = &row{name: "the same, p95 ms", goal: atMost(1000)}
	rowSearchCPU     = &row{name: "the same, CPU ms"}

	rowScaleAppend = &row{name: "64 pods appending, entries/s", goal: atLeast(20_000)}
)

// confinedRow are the rows of a step in a sandbox.
type confinedRow struct{ wall, cpu *row }

var (
	rowsBwrap    = confinedRow{&row{"one tool step in bwrap, ms", mostTimes(3, ofBare), rowStepWall}, &row{"one tool step in bwrap, CPU ms", goal{of: ofBare}, rowStepCPU}}
	rowsLandlock = confinedRow{&row{"one tool step in Landlock, ms", mostTimes(3, ofBare), rowStepWall}, &row{"one tool step in Landlock, CPU ms", goal{of: ofBare}, rowStepCPU}}
)

// streamed are the lengths of answers, in tokens, and their rows.
var streamed = []struct {
	tokens     int
	speed, cpu *row
}{
	{2_000, &row{name: "stream of 2,000 tokens, tokens/s", goal: leastTimes(0.8, ofOwn)}, &row{name: "stream of 2,000 tokens, CPU us a token", goal: mostTimes(2, ofOwn)}},
	{20_000, &row{name: "stream of 20,000 tokens, tokens/s", goal: leastTimes(0.8, ofOwn)}, &row{name: "stream of 20,000 tokens, CPU us a token", goal: mostTimes(2, ofOwn)}},
	{100_000, &row{name: "stream of 100,000 tokens, tokens/s", goal: leastTimes(0.8, ofOwn)}, &row{name: "stream of 100,000 tokens, CPU us a token", goal: mostTimes(2, ofOwn)}},
}
