package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// PreviewsToProto converts what a waiting call would make of files.
func PreviewsToProto(list []item.Preview) (out []*poddv1.Preview) {
	for _, p := range list {
		out = append(out, &poddv1.Preview{
			Path: clean(p.Path), MovesTo: clean(p.MovesTo), Diff: clean(p.Diff), Base: clean(p.Base), Deletes: p.Deletes, Omitted: clean(p.Omitted), Runs: p.Runs,
		})
	}
	return out
}

// PreviewsFromProto is the reverse of PreviewsToProto.
func PreviewsFromProto(list []*poddv1.Preview) (out []item.Preview) {
	for _, p := range list {
		out = append(out, item.Preview{
			Path: p.GetPath(), MovesTo: p.GetMovesTo(), Diff: p.GetDiff(), Base: p.GetBase(), Deletes: p.GetDeletes(), Omitted: p.GetOmitted(), Runs: p.GetRuns(),
		})
	}
	return out
}

func plannedToProto(list []item.PlannedChange) (out []*poddv1.PlannedChange) {
	for _, c := range list {
		out = append(out, &poddv1.PlannedChange{Path: clean(c.Path), Before: clean(c.Before), After: clean(c.After)})
	}
	return out
}

func plannedFromProto(list []*poddv1.PlannedChange) (out []item.PlannedChange) {
	for _, c := range list {
		out = append(out, item.PlannedChange{Path: c.GetPath(), Before: c.GetBefore(), After: c.GetAfter()})
	}
	return out
}
