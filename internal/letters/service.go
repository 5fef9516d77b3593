package letters

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	poddv1 "podd/proto/podd/v1"
)

// Register serves LetterService.
func (w *Letters) Register(g grpc.ServiceRegistrar) {
	poddv1.RegisterLetterServiceServer(g, &service{letters: w})
}

type service struct {
	poddv1.UnimplementedLetterServiceServer
	letters *Letters
}

// ListLetters shows what a pod got and sent.
func (s *service) ListLetters(ctx context.Context, r *poddv1.ListLettersRequest) (*poddv1.ListLettersResponse, error) {
	all, err := s.letters.List(ctx, r.GetPod())
	answer := new(poddv1.ListLettersResponse)
	for _, l := range all {
		answer.Letters = append(answer.Letters, &poddv1.Letter{
			Number: int64(l.Number), From: l.From, FromName: l.FromName, To: l.To, ToName: l.ToName, Time: timestamppb.New(l.Time),
			Beginning: l.Beginning, ReplyTo: int64(l.ReplyTo), State: poddv1.LetterState(l.State), TakenByTurn: l.Turn,
			Answer: int64(l.Answer), Cause: l.Cause,
		})
	}
	return answer, err
}

// DeliverLetter stores a letter that another node sends on.
func (s *service) DeliverLetter(ctx context.Context, r *poddv1.DeliverLetterRequest) (*poddv1.DeliverLetterResponse, error) {
	return &poddv1.DeliverLetterResponse{}, s.letters.store(ctx, r)
}
