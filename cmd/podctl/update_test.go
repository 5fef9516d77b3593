package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	poddv1 "podd/proto/podd/v1"
)

// updated is a podd that accepts every update, and nothing else.
type updated struct {
	poddv1.UnimplementedPodServiceServer
	got *poddv1.UpdatePodRequest
}

func (u *updated) UpdatePod(_ context.Context, r *poddv1.UpdatePodRequest) (*poddv1.UpdatePodResponse, error) {
	u.got = r
	return &poddv1.UpdatePodResponse{}, nil
}

// An update sends only the fields of its flags: it does not undo what changed between a
// look at the pod and the update, such as a rule that an answer added.
func TestUpdateSaysWhatItsFlagsSay(t *testing.T) {
	dir, err := os.MkdirTemp("", "podctl") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	podd := &updated{}
	server := grpc.NewServer()
	poddv1.RegisterPodServiceServer(server, podd)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() { server.Stop(); <-served }()

	for args, want := range map[string]*poddv1.UpdatePodRequest{
		"--model m": {Spec: &poddv1.PodSpec{Model: "m"}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"model"}}},
		"--budget 5 --max-steps 0 --read=": {
			Spec:       &poddv1.PodSpec{Limits: &poddv1.Limits{TotalCost: 5}},
			UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"read", "limits.max_steps", "limits.total_cost"}},
		},
	} {
		var out, stderr bytes.Buffer
		code := run(t.Context(), append(strings.Fields("update p "+args), "--socket", l.Addr().String()), program{
			stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: func(string) string { return "" }, now: time.Now,
		})
		want.Pod = "p"
		if code != 0 || !proto.Equal(podd.got, want) {
			t.Errorf("%s: exit code %d, %s; sent %v, want %v", args, code, stderr.String(), podd.got, want)
		}
	}
	for _, f := range specFields {
		if _, err := fieldmaskpb.New(&poddv1.PodSpec{}, f.field); err != nil {
			t.Errorf("--%s: %v", f.flag, err)
		}
	}
}
