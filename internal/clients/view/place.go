package view

import (
	"fmt"
	"path/filepath"

	poddv1 "podd/proto/podd/v1"
)

// Place is where a pod works, in brief: the last two names of its directory, or the repository and
// the branch of its checkout.
func Place(spec *poddv1.PodSpec) string {
	if of := spec.GetCheckout(); of.GetSource() != "" {
		return fmt.Sprintf("%s (%s)", filepath.Base(of.GetSource()), of.GetBranch())
	}
	dir := spec.GetDir()
	parent := filepath.Base(filepath.Dir(dir))
	if parent == "." || parent == "/" {
		return dir
	}
	return parent + "/" + filepath.Base(dir)
}

// Failed is failed for an idle pod whose last turn or check failed, limit where a limit ended the
// turn, and otherwise empty. The pod's reason says more.
func Failed(pod *poddv1.Pod) string {
	if pod.GetState() != poddv1.PodState_POD_STATE_IDLE {
		return ""
	}
	switch outcome := pod.GetLastOutcome(); {
	case outcome == poddv1.Outcome_OUTCOME_LIMIT:
		return "limit"
	case outcome == poddv1.Outcome_OUTCOME_FAILED, pod.GetCheckFailed():
		return "failed"
	}
	return ""
}
