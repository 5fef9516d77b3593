package fleet_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"podd/internal/fleet"
	poddv1 "podd/proto/podd/v1"
)

// The calls about one pod that any node answers from the database, and Watch, which passes on
// the pod's log itself.
var fromDatabase = []string{
	poddv1.AlertService_ListAlerts_FullMethodName, poddv1.AlertService_StreamAlerts_FullMethodName,
	poddv1.ApprovalService_ListRules_FullMethodName, poddv1.FleetService_Search_FullMethodName,
	poddv1.FleetService_GetUsageSeries_FullMethodName, poddv1.FleetService_Watch_FullMethodName, poddv1.LetterService_ListLetters_FullMethodName,
	poddv1.PodService_GetStats_FullMethodName, poddv1.PodService_ListInbox_FullMethodName,
	poddv1.TriggerService_GetTriggerSecret_FullMethodName, poddv1.TriggerService_ListReceipts_FullMethodName, poddv1.TriggerService_ListTriggers_FullMethodName,
}

// Each call about a pod goes to the pod's node, unless the database has the answer.
func TestEveryCallOfAPodIsRouted(t *testing.T) {
	seen := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("podd.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			methods := f.Services().Get(i).Methods()
			for j := range methods.Len() {
				m := methods.Get(j)
				name := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
				pod := m.Input().Fields().ByName("pod")
				about := pod != nil && pod.Kind() == protoreflect.StringKind && !pod.IsList()
				routed, _ := fleet.Routed(name, nil)
				if want := about && !slices.Contains(fromDatabase, name); routed != want {
					t.Errorf("%s is routed: %t, want %t", name, routed, want)
				}
				seen++
			}
		}
		return true
	})
	if seen < 40 {
		t.Errorf("only %d calls", seen)
	}
	if _, pod := fleet.Routed("", &poddv1.SubmitRequest{Pod: "p"}); pod != "p" {
		t.Errorf("the pod of a submit is %q", pod)
	}
}
