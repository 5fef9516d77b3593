package acp

import (
	"context"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// defaultMode is the mode of a pod whose spec sets none.
const defaultMode = "default"

// modes are podd's approval modes, and the pod's current one.
func modes(pod *poddv1.Pod) *acp.SessionModeState {
	mode := func(id, name, description string) acp.SessionMode {
		return acp.SessionMode{Id: acp.SessionModeId(id), Name: name, Description: acp.Ptr(description)}
	}
	return &acp.SessionModeState{
		CurrentModeId: currentMode(pod.GetSpec()),
		AvailableModes: []acp.SessionMode{
			mode(defaultMode, "Ask: default", "use the mode from podd's configuration"),
			mode("risky", "Ask: risky", "ask about calls that leave the sandbox or the scope"),
			mode("always", "Ask: always", "ask about every call that no rule allows"),
			mode("never", "Ask: never", "never ask; deny calls that would need approval"),
		},
	}
}

func currentMode(spec *poddv1.PodSpec) acp.SessionModeId {
	if spec.GetAsk() == "" {
		return defaultMode
	}
	return acp.SessionModeId(spec.GetAsk())
}

// setMode changes the pod's approval mode, for all of its clients.
func (a *agent) setMode(ctx context.Context, p acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	s, err := a.session(p.SessionId)
	if err != nil {
		return acp.SetSessionModeResponse{}, err
	}
	ask := string(p.ModeId)
	switch ask {
	case defaultMode:
		ask = ""
	case "never", "risky", "always":
	default:
		return acp.SetSessionModeResponse{}, item.Errorf(item.KindInvalid, "MODE", "%q is not a mode: use %s, risky, always or never", ask, defaultMode)
	}
	pod, err := a.pod(ctx, s.pod)
	if err != nil {
		return acp.SetSessionModeResponse{}, err
	}
	spec := pod.GetSpec()
	spec.Ask = ask
	_, err = a.Client.Pods().UpdatePod(ctx, &poddv1.UpdatePodRequest{Pod: s.pod, Spec: spec})
	return acp.SetSessionModeResponse{}, err
}
