package acp

import (
	"context"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// planMode is the mode of prompts whose turns only plan. It is the session's alone.
const planMode = "plan"

// modes are podd's approval modes and the plan mode, and the current one.
func modes(pod *poddv1.Pod) *acp.SessionModeState {
	mode := func(id, name, description string) acp.SessionMode {
		return acp.SessionMode{Id: acp.SessionModeId(id), Name: name, Description: acp.Ptr(description)}
	}
	return &acp.SessionModeState{
		CurrentModeId: currentMode(pod.GetSpec()),
		AvailableModes: []acp.SessionMode{
			mode(followed, "Ask: default", "use the mode from podd's configuration"),
			mode("risky", "Ask: risky", "ask about calls that leave the sandbox or the scope"),
			mode("always", "Ask: always", "ask about every call that no rule allows"),
			mode("never", "Ask: never", "never ask; deny calls that would need approval"),
			mode(planMode, "Plan", "read and plan; deny what changes something"),
		},
	}
}

func currentMode(spec *poddv1.PodSpec) acp.SessionModeId {
	if spec.GetPlan() {
		return planMode
	}
	if spec.GetAsk() == "" {
		return followed
	}
	return acp.SessionModeId(spec.GetAsk())
}

// setMode changes the pod's approval mode, for all of its clients.
func (a *agent) setMode(ctx context.Context, p acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	s, err := a.session(p.SessionId)
	if err == nil {
		err = s.choose(ctx, string(p.ModeId))
	}
	return acp.SetSessionModeResponse{}, err
}

// choose sets the session's mode.
func (s *session) choose(ctx context.Context, mode string) error {
	ask := mode
	switch mode {
	case planMode:
		s.setPlan(true)
		return nil
	case followed:
		ask = ""
	case "never", "risky", "always":
	default:
		return item.Errorf(item.KindInvalid, "MODE", "%q is not a mode: use %s, risky, always, never or plan", mode, followed)
	}
	err := s.update(ctx, &poddv1.PodSpec{Ask: ask}, "ask")
	if err == nil {
		s.setPlan(false)
	}
	return err
}

// setPlan says whether the turns of later prompts only plan.
func (p *prompts) setPlan(plan bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = &plan
}

// plans says whether the turn of the next prompt only plans; nil where the editor has not
// said.
func (p *prompts) plans() *bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan
}
