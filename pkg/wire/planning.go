package wire

import poddv1 "podd/proto/podd/v1"

// PlanOf says whether a submit asks for a turn that only plans; nil when it does not say.
func PlanOf(r *poddv1.SubmitRequest) *bool {
	if p, ok := r.GetPlanning().(*poddv1.SubmitRequest_Plan); ok {
		return &p.Plan
	}
	return nil
}

// SetPlan is the opposite of PlanOf.
func SetPlan(r *poddv1.SubmitRequest, plan *bool) *poddv1.SubmitRequest {
	if plan != nil {
		r.Planning = &poddv1.SubmitRequest_Plan{Plan: *plan}
	}
	return r
}
