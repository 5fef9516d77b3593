package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

var submitModes = enum[item.SubmitMode]{
	poddv1.SubmitMode_SUBMIT_MODE_QUEUE: item.ModeQueue,
	poddv1.SubmitMode_SUBMIT_MODE_STEER: item.ModeSteer,
}

// SubmitModeToProto converts a mode; the empty mode is unspecified.
func SubmitModeToProto(m item.SubmitMode) poddv1.SubmitMode {
	return poddv1.SubmitMode(submitModes.number(m))
}

// SubmitModeFromProto converts a mode. Unspecified, and a number that this podd
// does not know, are the empty mode, which means ModeQueue.
func SubmitModeFromProto(m poddv1.SubmitMode) item.SubmitMode {
	return submitModes.name(int32(m))
}

func submittedToProto(k item.Submitted) *poddv1.Submitted {
	return &poddv1.Submitted{
		RequestId: clean(k.RequestID),
		Mode:      SubmitModeToProto(k.Mode),
		Segments:  SegmentsToProto(k.Segments),
		Items:     ItemsToProto(k.Items),
		Text:      clean(k.Text),
		Plan:      k.Plan,

		AnswerSchema: clean(k.AnswerSchema),
		Choice:       choiceToProto(k.Choice),
		NoQuestions:  k.NoQuestions,
	}
}

func submittedFromProto(p *poddv1.Submitted) item.Submitted {
	return item.Submitted{
		RequestID: p.GetRequestId(),
		Mode:      SubmitModeFromProto(p.GetMode()),
		Segments:  SegmentsFromProto(p.GetSegments()),
		Items:     ItemsFromProto(p.GetItems()),
		Text:      p.GetText(),
		Plan:      p.GetPlan(),

		AnswerSchema: p.GetAnswerSchema(),
		Choice:       choiceFromProto(p.GetChoice()),
		NoQuestions:  p.GetNoQuestions(),
	}
}
