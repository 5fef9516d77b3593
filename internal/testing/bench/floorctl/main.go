// Command floorctl is the floor of podctl: it submits one prompt to a pod, prints the
// text of the answer and ends with the turn.
//
// Rank 6; not part of podd.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	poddv1 "podd/proto/podd/v1"
)

func main() {
	if err := run(context.Background()); err != nil { //nolint:forbidigo // main's own context
		fmt.Fprintln(os.Stderr, "floorctl:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	socket := flag.String("socket", "", "the floor's socket")
	pod := flag.String("pod", "", "the pod")
	flag.Parse()
	conn, err := grpc.NewClient("unix:"+*socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	pods := poddv1.NewPodServiceClient(conn)
	sent, err := pods.Submit(ctx, &poddv1.SubmitRequest{Pod: *pod, Segments: []*poddv1.Segment{
		{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: flag.Arg(0)}}},
	}})
	if err != nil {
		return err
	}
	stream, err := pods.Stream(ctx, &poddv1.StreamRequest{Pod: *pod, AfterSeq: sent.GetSeq(), Follow: true})
	if err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if text := m.GetEntry().GetItem().GetAssistantMessage().GetText(); text != "" {
			if _, err := os.Stdout.WriteString(text + "\n"); err != nil {
				return err
			}
		}
		if m.GetEntry().GetTurnEnded() != nil {
			return nil
		}
	}
}
