package fold

import (
	"cmp"
	"math"

	"podd/pkg/item"
)

// Mode is how pruning decides. The empty mode means ModeEconomic.
type Mode string

// The modes.
const (
	// ModeEconomic prunes what is worth less than it costs to carry.
	ModeEconomic Mode = "economic"
	// ModeTurns prunes what is older than the last few turns.
	ModeTurns Mode = "turns"
	// ModeOff prunes nothing.
	ModeOff Mode = "off"
)

// CacheMode is what the economic mode assumes to be still in the provider's prompt cache
// after a prune. The empty mode means CacheEnds.
type CacheMode string

// The cache modes.
const (
	// CacheEnds: the longest earlier request that ends before the first pruned result. The
	// provider keeps whole requests.
	CacheEnds CacheMode = "ends"
	// CacheLCP: everything before the first pruned result. The provider keeps any
	// common prefix.
	CacheLCP CacheMode = "lcp"
	// CachePrefix: only the fixed prefix.
	CachePrefix CacheMode = "prefix"
)

// Config has the parameters of the rule, which internal/testing/prunebench measures. A zero
// field means its default.
type Config struct {
	Mode  Mode
	Cache CacheMode
	// Floor is the size in tokens below which a result is never pruned; by default 80.
	Floor int
	// MinRequests is how many requests must send a result before it may be pruned; by
	// default 2.
	MinRequests int
	Turns       TurnsConfig
	Economic    EconomicConfig
	Pressure    PressureConfig
}

// TurnsConfig is for ModeTurns.
type TurnsConfig struct {
	// Protected is how many turns, including the current one, keep their results; by default
	// 3.
	Protected int
	// MinSavings is the least number of tokens that a prune must save; by default
	// 4096.
	MinSavings int
}

// EconomicConfig is for ModeEconomic. Amounts are in tokens of uncached input.
type EconomicConfig struct {
	// MinGain is what a prune must gain beyond the price of breaking a warm cache; by
	// default 6000.
	MinGain float64
	// HorizonShare times the requests since the last compaction is the number of further
	// requests expected to carry a result, at least HorizonMin and at most HorizonMax; by
	// default 0.30, 5 and 60. HorizonStart is the minimum when the cache is cold or a turn
	// starts; by default 20.
	HorizonShare, HorizonMin, HorizonMax, HorizonStart float64
	// HalfLife is the number of requests after which a result is half as likely to be needed
	// again; by default 14.
	HalfLife float64
	// Miss times the price of cached input, at most MissMax, is the cost of needing a pruned
	// result, in addition to fetching it again: the further request and the worse answer. By
	// default 400000 and 200000.
	Miss, MissMax float64
	// SizeFull is the size in tokens from which a result is as likely to be needed again as
	// its weight says. For a smaller one the factor is the root of its share, at least
	// SizeMin. By default 3000 and 0.15.
	SizeFull int
	SizeMin  float64
	// PastTurn is the factor for a result of an earlier turn; by default 0.5.
	PastTurn float64
	Weights  Weights
}

// Weights say how likely a new result is to be needed again, by its kind, or by what
// happened to its file: Edited, the file was edited after it was read; Reread, it was
// read again. By default 0.45, 0.10, 0.08, 0.10, 0.12, 0.03, 0.02 and 0.03, in the order
// of the fields.
type Weights struct {
	Read, Edited, Reread, Search, Task, Shell, Edit, Other float64
}

// PressureConfig is for requests that approach the model's window, in ModeEconomic.
type PressureConfig struct {
	// Above is the share of the window above which podd prunes results that would otherwise
	// be kept, To the share that it prunes down to; by default 0.70 and 0.50.
	Above, To float64
}

// withDefaults sets the zero fields.
func (c Config) withDefaults() Config {
	c.Mode = cmp.Or(c.Mode, ModeEconomic)
	c.Cache = cmp.Or(c.Cache, CacheEnds)
	c.Floor = cmp.Or(c.Floor, 80)
	c.MinRequests = cmp.Or(c.MinRequests, 2)
	c.Turns.Protected = cmp.Or(c.Turns.Protected, 3)
	c.Turns.MinSavings = cmp.Or(c.Turns.MinSavings, 4096)
	c.Pressure.Above = cmp.Or(c.Pressure.Above, 0.70)
	c.Pressure.To = cmp.Or(c.Pressure.To, 0.50)

	e := &c.Economic
	e.MinGain = cmp.Or(e.MinGain, 6000)
	e.HorizonShare = cmp.Or(e.HorizonShare, 0.30)
	e.HorizonMin = cmp.Or(e.HorizonMin, 5)
	e.HorizonMax = cmp.Or(e.HorizonMax, 60)
	e.HorizonStart = cmp.Or(e.HorizonStart, 20)
	e.HalfLife = cmp.Or(e.HalfLife, 14)
	e.Miss = cmp.Or(e.Miss, 400_000)
	e.MissMax = cmp.Or(e.MissMax, 200_000)
	e.SizeFull = cmp.Or(e.SizeFull, 3000)
	e.SizeMin = cmp.Or(e.SizeMin, 0.15)
	e.PastTurn = cmp.Or(e.PastTurn, 0.5)

	w := &e.Weights
	w.Read = cmp.Or(w.Read, 0.45)
	w.Edited = cmp.Or(w.Edited, 0.10)
	w.Reread = cmp.Or(w.Reread, 0.08)
	w.Search = cmp.Or(w.Search, 0.10)
	w.Task = cmp.Or(w.Task, 0.12)
	w.Shell = cmp.Or(w.Shell, 0.03)
	w.Edit = cmp.Or(w.Edit, 0.02)
	w.Other = cmp.Or(w.Other, 0.03)
	return c
}

// check refuses values with which no rule can work.
func (c Config) check() error {
	bad := func(format string, args ...any) error {
		return item.Errorf(item.KindInvalid, "BAD_PRUNING", "pruning: "+format, args...)
	}
	switch c.Mode {
	case ModeEconomic, ModeTurns, ModeOff:
	default:
		return bad("the mode %q is not known; use economic, turns or off", c.Mode)
	}
	switch c.Cache {
	case CacheEnds, CacheLCP, CachePrefix:
	default:
		return bad("the cache mode %q is not known; use ends, lcp or prefix", c.Cache)
	}
	for _, n := range c.numbers() {
		if !(n.value > 0) || math.IsInf(n.value, 0) {
			return bad("%s is %v; it must be a number above 0", n.name, n.value)
		}
	}
	e := c.Economic
	switch {
	case e.HorizonMin > e.HorizonMax:
		return bad("horizon_min is above horizon_max")
	case c.Pressure.Above > 1:
		return bad("pressure above is %v; it is a share of the window, at most 1", c.Pressure.Above)
	case c.Pressure.To > c.Pressure.Above:
		return bad("pressure to is above the share at which it begins")
	}
	return nil
}

type number struct {
	name  string
	value float64
}

func (c Config) numbers() []number {
	e, w := c.Economic, c.Economic.Weights
	return []number{
		{"floor", float64(c.Floor)}, {"min_requests", float64(c.MinRequests)},
		{"protected_turns", float64(c.Turns.Protected)}, {"min_savings", float64(c.Turns.MinSavings)},
		{"pressure above", c.Pressure.Above}, {"pressure to", c.Pressure.To},
		{"min_gain", e.MinGain}, {"horizon_share", e.HorizonShare}, {"horizon_min", e.HorizonMin},
		{"horizon_max", e.HorizonMax}, {"horizon_start", e.HorizonStart}, {"half_life", e.HalfLife},
		{"miss", e.Miss}, {"miss_max", e.MissMax}, {"size_full", float64(e.SizeFull)}, {"size_min", e.SizeMin},
		{"past_turn", e.PastTurn}, {"weight read", w.Read}, {"weight edited", w.Edited}, {"weight reread", w.Reread},
		{"weight search", w.Search}, {"weight task", w.Task}, {"weight shell", w.Shell}, {"weight edit", w.Edit},
		{"weight other", w.Other},
	}
}

// of is the weight of a kind.
func (w Weights) of(k item.OutputKind) float64 {
	switch k {
	case item.OutputRead:
		return w.Read
	case item.OutputSearch:
		return w.Search
	case item.OutputTask:
		return w.Task
	case item.OutputShell:
		return w.Shell
	case item.OutputEdit:
		return w.Edit
	}
	return w.Other
}
