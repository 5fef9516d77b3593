package client

import (
	"context"

	poddv1 "podd/proto/podd/v1"
)

// Pod is the pod of a name or an id. While podd restarts it is asked for again (see
// Config.RetryFor), and nobody is told of that.
func (c *Client) Pod(ctx context.Context, pod string) (*poddv1.Pod, error) {
	return again(ctx, c, nil, func() (*poddv1.Pod, error) {
		resp, err := c.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
		return resp.GetPod(), err
	})
}
