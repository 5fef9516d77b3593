package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	poddv1 "podd/proto/podd/v1"
)

// measureTriggers measures what 1,000 triggers of all conditions cost a podd while none is due.
func measureTriggers(ctx context.Context, r *rig) error {
	const pods, perPod = 10, 100
	s, err := r.start(ctx, poddKind, filepath.Join(r.dir, "triggers"), nil)
	if err != nil {
		return err
	}
	defer s.stop()
	without, err := s.idleCPU(time.Minute)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.work(), "inbox"), 0o700); err != nil {
		return err
	}
	var names []string
	for range pods {
		name, err := s.newPodIn(ctx, s.work())
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	for i, name := range names {
		for n := range perPod {
			set := &poddv1.SetTriggerRequest{Pod: name, Name: fmt.Sprintf("t-%d", n), Spec: waiting(n, names[(i+1)%pods])}
			if _, err := s.client.Triggers().SetTrigger(ctx, set); err != nil {
				return err
			}
		}
	}
	with, err := s.idleCPU(time.Minute)
	r.results.add(rowTriggers, r.podd, with-without)
	return err
}

// waiting is a trigger that is not due for a day; n says of which condition.
func waiting(n int, after string) *poddv1.TriggerSpec {
	spec := &poddv1.TriggerSpec{Prompt: "work"}
	later := time.Now().Add(48 * time.Hour)
	switch n % 6 {
	case 0:
		spec.Cron = fmt.Sprintf("0 3 %d %d *", later.Day(), later.Month())
	case 1:
		spec.Every = durationpb.New(48 * time.Hour)
	case 2:
		spec.At = timestamppb.New(later)
	case 3:
		spec.After = after
	case 4:
		spec.File = "inbox/**"
	case 5:
		spec.Event = true
	}
	return spec
}
