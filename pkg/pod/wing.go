package pod

import "context"

// Wing is what a part of podd beside the core does for deleted pods. All fields are required.
type Wing struct {
	// Restoring brings back what the wing has of a pod, by its id, that comes back from the trash. Its error keeps the
	// pod there.
	Restoring func(ctx context.Context, id string) error
	// Purged removes what it has of a pod that is gone for good.
	Purged func(ctx context.Context, id string)
	// Sweep removes what it has kept for its time.
	Sweep func(ctx context.Context) error
}

// Attach lets a wing take part. It is called before Recover.
func (h *Host) Attach(w Wing) { h.wings = append(h.wings, w) }
