package wire_test

import (
	"math"
	"reflect"
	"time"

	"podd/pkg/item"

	"pgregory.net/rapid"
)

// gens makes values of the vocabulary by reflection, so that a field added to pkg/item is
// generated without a change here. Full values have no zero field.
type gens struct{ full bool }

var (
	anyValue  = gens{}
	fullValue = gens{full: true}
)

// generate makes values of the type V.
func generate[V any](g gens) *rapid.Generator[V] { return rapid.MakeCustom[V](g.config()) }

func (g gens) kind() *rapid.Generator[item.Kind] {
	return rapid.OneOf(
		as[item.Kind](generate[item.Submitted](g)),
		as[item.Kind](generate[item.Promoted](g)),
		as[item.Kind](generate[item.Withdrawn](g)),
		as[item.Kind](generate[item.TurnStarted](g)),
		as[item.Kind](generate[item.TurnEnded](g)),
		as[item.Kind](generate[item.Setup](g)),
		as[item.Kind](generate[item.ItemAdded](g)),
		as[item.Kind](generate[item.ToolStarted](g)),
		as[item.Kind](generate[item.RequestUsage](g)),
		as[item.Kind](generate[item.Prune](g)),
		as[item.Kind](generate[item.Compaction](g)),
		as[item.Kind](generate[item.ApprovalRequested](g)),
		as[item.Kind](generate[item.ApprovalResolved](g)),
		as[item.Kind](generate[item.Rewind](g)),
		as[item.Kind](generate[item.Note](g)),
		as[item.Kind](generate[item.Recovered](g)),
		as[item.Kind](generate[item.AlertRaised](g)),
		as[item.Kind](generate[item.Purged](g)),
		as[item.Kind](generate[item.Job](g)),
		as[item.Kind](generate[item.Checkpoint](g)),
		as[item.Kind](generate[item.Restore](g)),
		as[item.Kind](generate[item.WingEntry](g)),
	)
}

func (g gens) item() *rapid.Generator[item.Item] {
	return rapid.OneOf(
		as[item.Item](generate[item.UserMessage](g)),
		as[item.Item](generate[item.SystemMessage](g)),
		as[item.Item](generate[item.AssistantMessage](g)),
		as[item.Item](generate[item.Reasoning](g)),
		as[item.Item](generate[item.ToolCall](g)),
		as[item.Item](generate[item.ToolResult](g)),
	)
}

func (g gens) segment() *rapid.Generator[item.Segment] {
	kinds := []*rapid.Generator[item.Segment]{
		as[item.Segment](generate[item.TextSegment](g)),
		as[item.Segment](generate[item.PasteSegment](g)),
		as[item.Segment](generate[item.FileRef](g)),
		// As it is stored, and as it is sent.
		as[item.Segment](rapid.Map(g.image(), func(i item.Image) item.ImageSegment { return item.ImageSegment{Image: i} })),
		as[item.Segment](rapid.Map(g.image(), func(i item.Image) item.ImageSegment {
			return item.ImageSegment{Image: item.Image{MediaType: i.MediaType, Name: i.Name, Data: []byte("data " + i.Name)}}
		})),
	}
	if !g.full {
		kinds = append(kinds, rapid.Just[item.Segment](item.UnknownSegment{}))
	}
	return rapid.OneOf(kinds...)
}

// image is an image that the store has: it has a digest and no bytes.
func (g gens) image() *rapid.Generator[item.Image] {
	return rapid.Custom(func(t *rapid.T) item.Image {
		n := rapid.IntRange(g.least(0), math.MaxInt32)
		return item.Image{
			Digest: rapid.StringN(1, -1, -1).Draw(t, "digest"), MediaType: g.string().Draw(t, "type"), Name: g.string().Draw(t, "name"),
			Width: n.Draw(t, "width"), Height: n.Draw(t, "height"), Bytes: int64(n.Draw(t, "bytes")),
		}
	})
}

func (g gens) entry() *rapid.Generator[item.Entry] {
	return rapid.Custom(func(t *rapid.T) item.Entry {
		return item.Entry{
			Seq:  item.Seq(g.int64().Draw(t, "seq")),
			Time: g.time().Draw(t, "time"),
			Turn: g.int64().Draw(t, "turn"),
			Kind: g.kind().Draw(t, "kind"),
		}
	})
}

func (g gens) config() rapid.MakeConfig {
	cfg := rapid.MakeConfig{
		Kinds: map[reflect.Kind]*rapid.Generator[any]{
			reflect.Int:     rapid.IntRange(g.least(math.MinInt32), math.MaxInt32).AsAny(),
			reflect.Int64:   g.int64().AsAny(),
			reflect.String:  g.string().AsAny(),
			reflect.Float64: rapid.Float64Range(float64(g.least(math.MinInt32)), math.MaxInt32).AsAny(),
		},
		Types: map[reflect.Type]*rapid.Generator[any]{},
	}
	if g.full {
		cfg.Kinds[reflect.Bool] = rapid.Just(true).AsAny()
	}
	override(cfg, g.time())
	override(cfg, rapid.Map(g.int64(), func(n int64) time.Duration {
		if g.full {
			// Both parts of a Duration message.
			n |= 1 << 40
		}
		return time.Duration(n)
	}))
	override(cfg, names(g, item.ModeQueue, item.ModeSteer))
	override(cfg, names(g, item.OutcomeFinished, item.OutcomeCancelled, item.OutcomeFailed,
		item.OutcomeInterrupted, item.OutcomeLimit))
	override(cfg, names(g, item.LevelInfo, item.LevelWarn, item.LevelError))
	override(cfg, names(g, item.RecoveryFound, item.RecoveryAgain, item.RecoveryNoEffect, item.RecoveryUnknown))
	override(cfg, names(g, item.OutputRead, item.OutputSearch, item.OutputShell, item.OutputEdit,
		item.OutputTask, item.OutputOther))
	override(cfg, names(g, item.JobRunning, item.JobEnded))
	override(cfg, names(g, item.ByAgent, item.ByPerson, item.ByRestore))
	override(cfg, names(g, item.DeltaText, item.DeltaReasoning, item.DeltaToolArguments, item.DeltaToolOutput))
	override(cfg, names(g, item.StateIdle, item.StateRunning, item.StateWaiting, item.StatePaused,
		item.StateResuming, item.StateInterrupted, item.StateQuarantined))
	override(cfg, lists(g, g.string()))
	override(cfg, lists(g, as[item.Access](rapid.Map(g.string(), func(s string) item.Access { return item.Access(s) }))))
	overrideLater(cfg, func() *rapid.Generator[*item.Pause] { return rapid.Ptr(generate[item.Pause](g), !g.full) })
	overrideLater(cfg, func() *rapid.Generator[[]item.PlannedChange] { return lists(g, generate[item.PlannedChange](g)) })
	overrideLater(cfg, func() *rapid.Generator[[]item.Pause] { return lists(g, generate[item.Pause](g)) })
	overrideLater(cfg, func() *rapid.Generator[[]item.Rule] {
		// The origin of a rule is not encoded.
		return lists(g, rapid.Map(generate[item.Rule](g), func(r item.Rule) item.Rule { r.Source = ""; return r }))
	})
	override(cfg, lists(g, as[item.Seq](rapid.Map(g.int64(), func(n int64) item.Seq { return item.Seq(n) }))))
	overrideLater(cfg, func() *rapid.Generator[*item.Images] {
		return rapid.Map(rapid.SliceOfN(g.image(), g.least(0), 3), func(list []item.Image) *item.Images { return item.NewImages(list...) })
	})
	overrideLater(cfg, func() *rapid.Generator[*item.Diffs] {
		return rapid.Map(rapid.SliceOfN(generate[item.FileDiff](g), g.least(0), 3), func(list []item.FileDiff) *item.Diffs {
			if len(list) == 0 {
				return nil
			}
			diffs := item.Diffs(list)
			return &diffs
		})
	})
	overrideLater(cfg, func() *rapid.Generator[[]item.Preview] { return lists(g, generate[item.Preview](g)) })
	overrideLater(cfg, func() *rapid.Generator[*item.Form] { return rapid.Ptr(generate[item.Form](g), !g.full) })
	overrideLater(cfg, func() *rapid.Generator[*item.FormTakes] { return rapid.Ptr(generate[item.FormTakes](g), !g.full) })
	overrideLater(cfg, func() *rapid.Generator[[]item.FormQuestion] { return lists(g, generate[item.FormQuestion](g)) })
	overrideLater(cfg, func() *rapid.Generator[[]item.FormOption] { return lists(g, generate[item.FormOption](g)) })
	overrideLater(cfg, func() *rapid.Generator[[]item.FormReply] { return lists(g, generate[item.FormReply](g)) })
	override(cfg, lists(g, rapid.IntRange(g.least(math.MinInt32), math.MaxInt32)))
	overrideLater(cfg, func() *rapid.Generator[*item.Cut] { return rapid.Ptr(generate[item.Cut](g), !g.full) })
	overrideLater(cfg, func() *rapid.Generator[[]item.ToolSpec] { return lists(g, generate[item.ToolSpec](g)) })
	overrideLater(cfg, func() *rapid.Generator[[]item.OutputLimit] { return lists(g, generate[item.OutputLimit](g)) })
	overrideLater(cfg, func() *rapid.Generator[*item.Setup] { return rapid.Ptr(generate[item.Setup](g), !g.full) })
	overrideLater(cfg, func() *rapid.Generator[[]item.RequestTotal] { return lists(g, generate[item.RequestTotal](g)) })
	overrideLater(cfg, func() *rapid.Generator[item.Terms] {
		return rapid.Map(rapid.Ptr(generate[item.Rates](g), !g.full), func(r *item.Rates) item.Terms {
			if r == nil {
				return item.Terms{}
			}
			return item.Terms{IsListed: true, Listed: *r, CacheTTL: "1h"}
		})
	})
	overrideLater(cfg, func() *rapid.Generator[[]item.Job] { return lists(g, generate[item.Job](g)) })
	overrideLater(cfg, func() *rapid.Generator[[]item.ToolTotal] { return lists(g, generate[item.ToolTotal](g)) })
	overrideLater(cfg, func() *rapid.Generator[item.Item] { return g.item() })
	overrideLater(cfg, func() *rapid.Generator[[]item.Item] { return lists(g, g.item()) })
	overrideLater(cfg, func() *rapid.Generator[[]item.Segment] { return lists(g, g.segment()) })
	return cfg
}

func (g gens) int64() *rapid.Generator[int64] {
	return rapid.Int64Range(int64(g.least(math.MinInt)), math.MaxInt64)
}

func (g gens) string() *rapid.Generator[string] {
	return rapid.StringN(g.least(0), 20, -1)
}

// time returns times that fit a Timestamp, and the zero time.
func (g gens) time() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if !g.full && rapid.Bool().Draw(t, "zero") {
			return time.Time{}
		}
		sec := rapid.Int64Range(-62135596799, 253402300799).Draw(t, "sec")
		return time.Unix(sec, rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).UTC()
	})
}

func (g gens) least(n int) int {
	if g.full {
		return 1
	}
	return n
}

func names[N ~string](g gens, known ...N) *rapid.Generator[N] {
	if !g.full {
		known = append(known, "")
	}
	return rapid.SampledFrom(known)
}

// lists returns nil for the empty list, as decoding does.
func lists[E any](g gens, element *rapid.Generator[E]) *rapid.Generator[[]E] {
	return rapid.Map(rapid.SliceOfN(element, g.least(0), 3), func(list []E) []E {
		if len(list) == 0 {
			return nil
		}
		return list
	})
}

func as[T, V any](g *rapid.Generator[V]) *rapid.Generator[T] {
	return rapid.Map(g, func(v V) T { return any(v).(T) })
}

func override[V any](cfg rapid.MakeConfig, g *rapid.Generator[V]) {
	cfg.Types[reflect.TypeFor[V]()] = g.AsAny()
}

// overrideLater is override for a type whose generator needs the configuration
// itself.
func overrideLater[V any](cfg rapid.MakeConfig, build func() *rapid.Generator[V]) {
	override(cfg, rapid.Deferred(build))
}
