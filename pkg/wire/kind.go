package wire

import (
	"fmt"
	"slices"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// setKind sets p's kind; an unknown one stays empty.
func setKind(p *poddv1.Entry, kind item.Kind) {
	switch k := kind.(type) {
	case item.Submitted:
		p.Kind = &poddv1.Entry_Submitted{Submitted: submittedToProto(k)}
	case item.Promoted:
		p.Kind = &poddv1.Entry_Promoted{Promoted: &poddv1.Promoted{RequestIds: cleanAll(k.RequestIDs)}}
	case item.Withdrawn:
		p.Kind = &poddv1.Entry_Withdrawn{Withdrawn: &poddv1.Withdrawn{RequestIds: cleanAll(k.RequestIDs)}}
	case item.TurnStarted:
		p.Kind = &poddv1.Entry_TurnStarted{TurnStarted: &poddv1.TurnStarted{
			RequestIds: cleanAll(k.RequestIDs), Plan: k.Plan, AnswerSchema: clean(k.AnswerSchema), Choice: choiceToProto(k.Choice),
			NoQuestions: k.NoQuestions,
		}}
	case item.TurnEnded:
		p.Kind = &poddv1.Entry_TurnEnded{TurnEnded: turnEndedToProto(k)}
	case item.Setup:
		p.Kind = &poddv1.Entry_Setup{Setup: setupToProto(k)}
	case item.ItemAdded:
		p.Kind = &poddv1.Entry_Item{Item: ItemToProto(k.Item)}
	case item.ToolStarted:
		p.Kind = &poddv1.Entry_ToolStarted{ToolStarted: &poddv1.ToolStarted{
			CallId: clean(k.CallID), Tool: clean(k.Tool), Arguments: clean(k.Arguments), Planned: plannedToProto(k.Planned), Boot: clean(k.Boot),
		}}
	case item.RequestUsage:
		p.Kind = &poddv1.Entry_Usage{Usage: requestUsageToProto(k)}
	case item.Prune:
		p.Kind = &poddv1.Entry_Prune{Prune: pruneToProto(k)}
	case item.Compaction:
		p.Kind = &poddv1.Entry_Compaction{Compaction: &poddv1.Compaction{
			Summary: ItemToProto(k.Summary), UpToSeq: int64(k.UpTo), Reason: clean(k.Reason),
		}}
	case item.ApprovalRequested:
		p.Kind = &poddv1.Entry_ApprovalRequested{ApprovalRequested: &poddv1.ApprovalRequested{
			CallId: clean(k.CallID), Digest: []byte(k.Digest), Question: clean(k.Question),
			Tool: clean(k.Tool), Arguments: clean(k.Arguments), Expires: timeToProto(k.Expires),
			Previews: PreviewsToProto(k.Previews), Form: FormToProto(k.Form), Key: clean(k.Key),
		}}
	case item.ApprovalResolved:
		p.Kind = &poddv1.Entry_ApprovalResolved{ApprovalResolved: &poddv1.ApprovalResolved{
			CallId: clean(k.CallID), Approved: k.Approved, By: clean(k.By), Reason: clean(k.Reason),
			Key: clean(k.Key), Replies: RepliesToProto(k.Replies), Dismissed: k.Dismissed, Withdrawn: k.Withdrawn,
		}}
	case item.Rewind:
		p.Kind = &poddv1.Entry_Rewind{Rewind: &poddv1.Rewind{ToSeq: int64(k.To)}}
	case item.Note:
		p.Kind = &poddv1.Entry_Note{Note: &poddv1.Note{
			Text: clean(k.Text), Wake: k.Wake, Job: clean(k.Job), NotBefore: timeToProto(k.NotBefore),
			Check: poddv1.Outcome(outcomes.number(k.Check)), Origin: clean(k.Origin), Ref: clean(k.Ref),
		}}
	case item.Recovered:
		p.Kind = &poddv1.Entry_Recovered{Recovered: &poddv1.Recovered{
			Reason: clean(k.Reason), CallIds: cleanAll(k.CallIDs), Waited: k.Waited,
		}}
	case item.AlertRaised:
		p.Kind = &poddv1.Entry_Alert{Alert: AlertToProto(k.Alert)}
	case item.Purged:
		p.Kind = &poddv1.Entry_Purged{Purged: purgedToProto(k)}
	default:
		setRareKind(p, kind)
	}
}

// setRareKind is the rest of setKind.
func setRareKind(p *poddv1.Entry, kind item.Kind) {
	switch k := kind.(type) {
	case item.Job:
		p.Kind = &poddv1.Entry_Job{Job: jobToProto(k)}
	case item.Checkpoint:
		p.Kind = &poddv1.Entry_Checkpoint{Checkpoint: checkpointToProto(k)}
	case item.Restore:
		p.Kind = &poddv1.Entry_Restore{Restore: &poddv1.Restore{
			AfterSeq: int64(k.After), Ended: k.Ended, Changed: k.Changed, Kept: cleanAll(k.Kept), Pod: clean(k.Pod), Merge: k.Merge,
		}}
	case item.WingEntry:
		p.Kind = &poddv1.Entry_Wing{Wing: &poddv1.WingEntry{Wing: clean(k.Wing), Name: clean(k.Name), Line: clean(k.Line), Data: clean(k.Data), Pending: k.Pending, Done: int64(k.Done)}}
	}
}

// kindFromProto is p's kind. It is UnknownKind, too, if an item in it has a kind that
// this podd does not know: a kind never has a nil item.
func kindFromProto(p *poddv1.Entry) item.Kind {
	kind := convertKind(p)
	if checkItems(kind) != nil {
		return item.UnknownKind{}
	}
	return kind
}

func convertKind(p *poddv1.Entry) item.Kind {
	switch k := p.GetKind().(type) {
	case *poddv1.Entry_Submitted:
		return submittedFromProto(k.Submitted)
	case *poddv1.Entry_Promoted:
		return item.Promoted{RequestIDs: k.Promoted.GetRequestIds()}
	case *poddv1.Entry_Withdrawn:
		return item.Withdrawn{RequestIDs: k.Withdrawn.GetRequestIds()}
	case *poddv1.Entry_TurnStarted:
		return item.TurnStarted{
			RequestIDs: k.TurnStarted.GetRequestIds(), Plan: k.TurnStarted.GetPlan(), AnswerSchema: k.TurnStarted.GetAnswerSchema(),
			Choice: choiceFromProto(k.TurnStarted.GetChoice()), NoQuestions: k.TurnStarted.GetNoQuestions(),
		}
	case *poddv1.Entry_TurnEnded:
		return turnEndedFromProto(k.TurnEnded)
	case *poddv1.Entry_Setup:
		return setupFromProto(k.Setup)
	case *poddv1.Entry_Item:
		return item.ItemAdded{Item: ItemFromProto(k.Item)}
	case *poddv1.Entry_ToolStarted:
		s := k.ToolStarted
		return item.ToolStarted{CallID: s.GetCallId(), Tool: s.GetTool(), Arguments: s.GetArguments(), Planned: plannedFromProto(s.GetPlanned()), Boot: s.GetBoot()}
	case *poddv1.Entry_Usage:
		return requestUsageFromProto(k.Usage)
	case *poddv1.Entry_Prune:
		return pruneFromProto(k.Prune)
	case *poddv1.Entry_Compaction:
		c := k.Compaction
		return item.Compaction{Summary: ItemFromProto(c.GetSummary()), UpTo: item.Seq(c.GetUpToSeq()), Reason: c.GetReason()}
	case *poddv1.Entry_ApprovalRequested:
		a := k.ApprovalRequested
		return item.ApprovalRequested{
			CallID: a.GetCallId(), Digest: string(a.GetDigest()), Question: a.GetQuestion(),
			Tool: a.GetTool(), Arguments: a.GetArguments(), Expires: timeFromProto(a.GetExpires()),
			Previews: PreviewsFromProto(a.GetPreviews()), Form: FormFromProto(a.GetForm()), Key: a.GetKey(),
		}
	case *poddv1.Entry_ApprovalResolved:
		a := k.ApprovalResolved
		return item.ApprovalResolved{
			CallID: a.GetCallId(), Approved: a.GetApproved(), By: a.GetBy(), Reason: a.GetReason(),
			Key: a.GetKey(), Replies: RepliesFromProto(a.GetReplies()), Dismissed: a.GetDismissed(), Withdrawn: a.GetWithdrawn(),
		}
	case *poddv1.Entry_Rewind:
		return item.Rewind{To: item.Seq(k.Rewind.GetToSeq())}
	case *poddv1.Entry_Note:
		return noteFromProto(k.Note)
	case *poddv1.Entry_Recovered:
		return item.Recovered{Reason: k.Recovered.GetReason(), CallIDs: k.Recovered.GetCallIds(), Waited: k.Recovered.GetWaited()}
	case *poddv1.Entry_Alert:
		return item.AlertRaised{Alert: AlertFromProto(k.Alert)}
	case *poddv1.Entry_Purged:
		return purgedFromProto(k.Purged)
	default:
		return convertRareKind(p)
	}
}

// convertRareKind is the rest of convertKind.
func convertRareKind(p *poddv1.Entry) item.Kind {
	switch k := p.GetKind().(type) {
	case *poddv1.Entry_Job:
		return jobFromProto(k.Job)
	case *poddv1.Entry_Checkpoint:
		return checkpointFromProto(k.Checkpoint)
	case *poddv1.Entry_Restore:
		return item.Restore{
			After: item.Seq(k.Restore.GetAfterSeq()), Ended: k.Restore.GetEnded(), Changed: k.Restore.GetChanged(), Kept: k.Restore.GetKept(), Pod: k.Restore.GetPod(),
			Merge: k.Restore.GetMerge(),
		}
	case *poddv1.Entry_Wing:
		return item.WingEntry{Wing: k.Wing.GetWing(), Name: k.Wing.GetName(), Line: k.Wing.GetLine(), Data: k.Wing.GetData(), Pending: k.Wing.GetPending(), Done: item.Seq(k.Wing.GetDone())}
	default:
		return item.UnknownKind{}
	}
}

// checkItems says why the items of a kind could not be written and read back completely.
func checkItems(kind item.Kind) error {
	switch k := kind.(type) {
	case item.ItemAdded:
		if known(k.Item) {
			return nil
		}
		return fmt.Errorf("the item has the type %T", k.Item)
	case item.Compaction:
		if known(k.Summary) {
			return nil
		}
		return fmt.Errorf("the compaction's summary has the type %T", k.Summary)
	case item.Submitted:
		if i := slices.IndexFunc(k.Items, func(it item.Item) bool { return !known(it) }); i >= 0 {
			return fmt.Errorf("item %d of the submit has the type %T", i, k.Items[i])
		}
	}
	return nil
}
