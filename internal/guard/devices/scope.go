package devices

import (
	"maps"
	"slices"

	poddv1 "podd/proto/podd/v1"
)

// Scope is what a device may do. Each includes the ones before it.
type Scope string

// The scopes.
const (
	// View reads pods, logs, alerts, approvals and sums.
	View Scope = "view"
	// Answer answers approvals once and acknowledges alerts.
	Answer Scope = "answer"
	// Control submits and steers.
	Control Scope = "control"
)

// Scopes are all, from the least.
func Scopes() []Scope { return []Scope{View, Answer, Control} }

// letIn are the calls that need no bearer: by them a browser gets one.
var letIn = map[string]bool{
	poddv1.DeviceService_GetChallenge_FullMethodName: true,
	poddv1.DeviceService_Login_FullMethodName:        true,
	poddv1.DeviceService_Pair_FullMethodName:         true,
	poddv1.DeviceService_RevealNonce_FullMethodName:  true,
}

// LetsIn says whether a call needs no bearer.
func LetsIn(method string) bool { return letIn[method] }

// Includes says whether a device with this scope may make a call of the other.
func (s Scope) Includes(other Scope) bool {
	have, need := slices.Index(Scopes(), s), slices.Index(Scopes(), other)
	return need >= 0 && have >= need
}

// calls has the scope of each call that a device can make at all.
var calls = map[string]Scope{
	poddv1.AdminService_GetStatus_FullMethodName:          View,
	poddv1.AlertService_ListAlerts_FullMethodName:         View,
	poddv1.AlertService_StreamAlerts_FullMethodName:       View,
	poddv1.ApprovalService_ListApprovals_FullMethodName:   View,
	poddv1.FileService_DiffFiles_FullMethodName:           View,
	poddv1.FleetService_GetUsageSeries_FullMethodName:     View,
	poddv1.FleetService_ListNodes_FullMethodName:          View,
	poddv1.FleetService_Search_FullMethodName:             View,
	poddv1.FleetService_Watch_FullMethodName:              View,
	poddv1.LetterService_ListLetters_FullMethodName:       View,
	poddv1.PodService_GetContext_FullMethodName:           View,
	poddv1.PodService_GetImage_FullMethodName:             View,
	poddv1.PodService_GetPod_FullMethodName:               View,
	poddv1.PodService_GetStats_FullMethodName:             View,
	poddv1.PodService_ListInbox_FullMethodName:            View,
	poddv1.PodService_ListPods_FullMethodName:             View,
	poddv1.PodService_Stream_FullMethodName:               View,
	poddv1.TriggerService_ListReceipts_FullMethodName:     View,
	poddv1.TriggerService_ListTriggers_FullMethodName:     View,
	poddv1.AlertService_AckAlerts_FullMethodName:          Answer,
	poddv1.ApprovalService_ResolveApproval_FullMethodName: Answer,
	poddv1.PodService_CancelInboxItem_FullMethodName:      Control,
	poddv1.PodService_Cancel_FullMethodName:               Control,
	poddv1.PodService_ListPrompts_FullMethodName:          Control,
	poddv1.PodService_Notify_FullMethodName:               Control,
	poddv1.PodService_Pause_FullMethodName:                Control,
	poddv1.PodService_Resume_FullMethodName:               Control,
	poddv1.PodService_Submit_FullMethodName:               Control,
	poddv1.TriggerService_PauseTrigger_FullMethodName:     Control,
}

// CallScope is the scope that a call needs; false for one that no device can make.
func CallScope(method string) (Scope, bool) {
	s, ok := calls[method]
	return s, ok
}

// Calls are the calls that browsers can make, in order.
func Calls() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(calls)), maps.Keys(letIn))
	slices.Sort(all)
	return all
}
