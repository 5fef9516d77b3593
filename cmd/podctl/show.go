package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/view"
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newShowCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "show POD",
		Short:             "show one pod",
		Args:              argCount(1, 1, "a POD"),
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().GetPod(cmd.Context(), &poddv1.GetPodRequest{Pod: valid(args[0])})
				if err != nil {
					return err
				}
				return p.print(resp.GetPod(), podFacts(wire.PodFromProto(resp.GetPod())).writeTo)
			})
		},
	}
}

func podFacts(pod item.Pod) facts {
	instructions := ""
	if n := len(pod.Spec.Instructions); n > 0 {
		instructions = fmt.Sprintf("its own, %s bytes", view.Count(int64(n)))
	}
	log := "empty"
	if pod.Last > 0 {
		log = fmt.Sprintf("#%d to #%d", pod.First, pod.Last)
	}
	return facts{
		{"name", pod.Name},
		{"id", pod.ID},
		{"state", state(pod)},
		{"reason", pod.Status.Reason},
		{"dir", pod.Spec.Dir},
		{"read", strings.Join(pod.Spec.Read, ", ")},
		{"write", strings.Join(pod.Spec.Write, ", ")},
		{"model", orDefault(pod.Spec.Model, "podd's")},
		{"instructions", orDefault(instructions, "podd's")},
		{"ask", pod.Spec.Ask},
		{"turns", view.Count(pod.Status.Turn)},
		{"log", log},
		{"requests", view.Count(pod.Status.Usage.Requests)},
		{"tokens", view.Tokens(pod.Status.Usage)},
		{"created", stamp(pod.CreatedAt)},
		{"last activity", stamp(pod.Status.LastActivity)},
	}
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
