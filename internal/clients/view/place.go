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

// Failed names the outcome of the last turn of an idle pod, if a person should look at it: failed
// or limit; otherwise it is empty.
func Failed(pod *poddv1.Pod) string {
	if pod.GetState() != poddv1.PodState_POD_STATE_IDLE {
		return ""
	}
	switch pod.GetLastOutcome() {
	case poddv1.Outcome_OUTCOME_FAILED:
		return "failed"
	case poddv1.Outcome_OUTCOME_LIMIT:
		return "limit"
	}
	return ""
}
