package pod

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
)

// SpawnTool is the name of the tool that creates pods; a pod has it if its spec has
// SubPods.
const SpawnTool = "spawn_pod"

// WaitTool is the name of the tool that waits for pods in the background.
const WaitTool = "wait_for"

// Spawn creates a pod for a call of another: its spec names both. Submit its task with
// the request id [TaskID].
func (h *Host) Spawn(ctx context.Context, name string, spec item.PodSpec) (item.Pod, error) {
	return h.create(ctx, name, spec, nil)
}

// Why a withdrawn task may not be over.
var (
	errUnstored = errors.New("it is cancelled, and there is no space to store that yet")
	errNotEnded = errors.New("it has not ended in time")
	errNoEnd    = errors.New("its end could not be stored")
)

// task is the task of a sub-pod that a call waits for; zero for most pods. It belongs to the pod's goroutine,
// except for parent and id.
type task struct {
	// parent is the id of the pod that spawned it, id the request id of the task.
	parent, id string
	// unsure is set until a pod loaded with its task knows whether its parent waits for it;
	// recalled once the task was recalled.
	unsure, recalled bool
}

func taskOf(spec item.PodSpec) task {
	if spec.Parent == "" || spec.ParentCall == "" {
		return task{}
	}
	return task{parent: spec.Parent, id: TaskID(spec)}
}

// worksOn says that an open turn works on the task: it has this number, or the log says
// so.
func (t task) worksOn(turn *fold.Turn, number int64) bool {
	return turn.Open && (slices.Contains(turn.RequestIDs, t.id) || number > 0 && turn.Number == number)
}

// recallNow recalls what it can at once, and says which turn it cancelled.
func (a *actor) recallNow(turn int64, reason string) (cancelling, error) {
	a.task.recalled = true
	if err := a.removeRecalled(); err != nil {
		if a.turns.now == nil {
			a.backlog.hold(err)
		}
		return cancelling{}, err
	}
	if a.inbox.index(a.task.id) < 0 && !a.task.worksOn(&a.journal.state.Turn, turn) {
		return cancelling{}, nil
	}
	return a.cancelTurn(reason, true)
}

// removeRecalled removes a recalled task from the inbox, unless a turn is about to begin with
// it.
func (a *actor) removeRecalled() error {
	if !a.task.recalled {
		return nil
	}
	if i := a.inbox.index(a.task.id); i >= 0 && !a.inbox.taken[a.inbox.items[i].Seq] {
		return a.withdraw(a.host.base, a.task.id)
	}
	return nil
}

// deleteChildren removes a pod's sub-pods.
func (h *Host) deleteChildren(ctx context.Context, parent string) error {
	children, err := h.Family.Children(ctx, parent)
	if err != nil {
		return err
	}
	for _, p := range children {
		if err := h.Delete(ctx, p.ID); err != nil && item.ReasonOf(err) != store.ReasonPodNotFound {
			return fmt.Errorf("some of its sub-pods were not deleted: %w", err)
		}
	}
	return nil
}
