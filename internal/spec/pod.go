package spec

import (
	"context"
	"fmt"

	"podd/pkg/item"
	"podd/pkg/store"
)

// pageLen is how many entries are read at once.
const pageLen = 1000

// Pod checks the log of a pod, and that its inbox is what the log says. The pod is a name or an id. The error says why the log
// could not be read.
func Pod(ctx context.Context, s store.Store, idOrName string) ([]Finding, error) {
	rec, err := s.Pod(ctx, idOrName)
	if err != nil || rec.Last == 0 {
		return nil, err
	}
	parts, err := s.Parts(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	var shared item.Seq
	for _, p := range parts {
		if p.Owner != rec.ID {
			shared = p.To
		}
	}
	c := New(shared)
	err = read(ctx, s, rec, c)
	if item.ReasonOf(err) == store.ReasonPurged {
		return Pod(ctx, s, rec.ID) // It was purged meanwhile.
	}
	if err == nil {
		err = inbox(ctx, s, rec, c)
	}
	return c.Found(), err
}

// read adds the entries of a pod to a checker.
func read(ctx context.Context, s store.Store, rec item.Pod, c *Checker) error {
	for at := rec.First; at <= rec.Last; {
		page, err := s.Read(ctx, rec.ID, at-1, int(min(rec.Last-at+1, pageLen)))
		for _, r := range page {
			e, err := r.Decode()
			if err != nil {
				return err
			}
			c.Add(e)
			at = r.Seq + 1
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inbox checks the inbox of a pod that did not change meanwhile.
func inbox(ctx context.Context, s store.Store, rec item.Pod, c *Checker) error {
	waiting, err := s.Inbox(ctx, rec.ID)
	if err != nil {
		return err
	}
	now, err := s.Pod(ctx, rec.ID)
	if err != nil || now.Last != rec.Last {
		return err
	}
	var ids []string
	for _, w := range waiting {
		e, err := w.Decode()
		if err != nil {
			return err
		}
		if k, ok := e.Kind.(item.Submitted); ok {
			ids = append(ids, k.RequestID)
		}
	}
	c.Inbox(ids)
	return nil
}

// Pods checks the logs of pods, by name or id, and returns a sentence for each finding; without any it checks those of all.
func Pods(ctx context.Context, s store.Store, pods ...string) (found []string, err error) {
	all := len(pods) == 0
	if all {
		list, err := s.Pods(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			pods = append(pods, p.ID)
		}
	}
	for _, name := range pods {
		p, err := s.Pod(ctx, name)
		if err == nil {
			var of []Finding
			of, err = Pod(ctx, s, p.ID)
			for _, f := range of {
				found = append(found, fmt.Sprintf("pod %s: %s", p.Name, f))
			}
		}
		if deleted := item.ReasonOf(err) == store.ReasonPodNotFound; err != nil && !(all && deleted) {
			return found, err
		}
	}
	return found, nil
}
