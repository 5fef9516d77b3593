package pod_test

import (
	"encoding/hex"
	"reflect"
	"testing"

	"podd/pkg/item"
	"podd/pkg/pod"
)

// aSubmit has a value in each field but the pod, which a request id belongs to anyway.
func aSubmit() pod.Submit {
	plan := true
	return pod.Submit{
		Segments:  []item.Segment{item.TextSegment{Text: "do it"}, item.PasteSegment{Name: "log", Text: "a\nb"}, item.FileRef{Path: "x.go"}},
		RequestID: "r1", Mode: item.ModeSteer, ParseRefs: true, Plan: &plan, AnswerSchema: `{"type":"object"}`, Model: "m", Effort: "high", NoQuestions: true,
	}
}

// Each field counts: a request id with other content is refused, whichever field differs. A new
// field fails this test until the digest has it.
func TestDigestHasEachField(t *testing.T) {
	all := aSubmit()
	want, err := all.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[pod.Submit]().NumField() {
		name := reflect.TypeFor[pod.Submit]().Field(i).Name
		if name == "Pod" {
			continue
		}
		other := all
		field := reflect.ValueOf(&other).Elem().Field(i)
		if field.IsZero() {
			t.Errorf("aSubmit has no %s", name)
		}
		field.SetZero()
		if got, err := other.Digest(); err != nil || got == want {
			t.Errorf("without %s the digest is the same: %v", name, err)
		}
	}
}

// Stored digests stay comparable: a request that an earlier podd acknowledged is the same one.
func TestDigestOfEarlierReleases(t *testing.T) {
	plain := pod.Submit{Segments: []item.Segment{item.TextSegment{Text: "hi"}}, RequestID: "r1", Mode: item.ModeQueue}
	full := aSubmit()
	full.NoQuestions = false // Later than these digests.
	for want, s := range map[string]pod.Submit{
		"650a910a598a49b1d48aef0998157066616e37e695af9e604f51aa7594534080": plain,
		"96d8b3b9efcde087e29edcc8fd31b0a7a5eca40ef73b060f9347b7427ebaaf4d": full,
	} {
		if got, err := s.Digest(); err != nil || hex.EncodeToString(got[:]) != want {
			t.Errorf("got %x, %v, want %s", got, err, want)
		}
	}
}
