package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
)

// shownDigest is how many characters of a digest are shown, leastDigest how many name an image.
const (
	shownDigest = 12
	leastDigest = 4
)

func newImageCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "image [POD] [IMAGE] [FILE]",
		Short: "List a pod's images, or save one to a file",
		Long: "Lists the images in a pod's log: digest, first entry, description. With IMAGE, a name or the beginning of a " +
			"digest, it writes that image to FILE, or to standard output if FILE is - or missing. FILE must not exist yet. " +
			"The bytes are those that models get: podd reduces large images and converts GIF and WebP.",
		Example:           "  podctl image api shot.png /tmp/shot.png",
		ValidArgsFunction: gallery{program: p}.complete,
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, args []string) error {
			g := gallery{p, c, pod}
			if len(args) == 1 {
				return g.list(ctx)
			}
			found, err := g.find(ctx, valid(args[1]))
			if err != nil {
				return err
			}
			return g.save(ctx, found, strings.Join(args[2:], ""))
		}),
	}
}

// gallery is the images of a pod.
type gallery struct {
	*program
	c   *client.Client
	pod string
}

// loggedImage is an image and the first entry that has it.
type loggedImage struct {
	item.Image
	seq item.Seq
}

// all are the images in the pod's log, each name of an image once.
func (g gallery) all(ctx context.Context) (list []loggedImage, err error) {
	pod, err := g.c.Pod(ctx, g.pod)
	if err != nil {
		return nil, err
	}
	// Retention may have removed the beginning of the log.
	for m, err := range g.c.Stream(ctx, client.StreamOptions{Pod: g.pod, After: max(pod.GetFirstSeq()-1, 0)}) {
		if err != nil {
			return nil, err
		}
		if m.GetEntry() == nil {
			continue
		}
		e := wire.EntryFromProto(m.GetEntry())
		for _, image := range item.ImagesIn(e.Kind) {
			known := slices.ContainsFunc(list, func(l loggedImage) bool { return l.Digest == image.Digest && l.Name == image.Name })
			if !known {
				list = append(list, loggedImage{image, e.Seq})
			}
		}
	}
	return list, nil
}

func (g gallery) list(ctx context.Context) error {
	list, err := g.all(ctx)
	if err != nil {
		return err
	}
	if g.output == outputJSON {
		for _, image := range list {
			if err := g.printJSON(wire.ImageToProto(image.Image)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(g.stderr, "pod %s has no images\n", sanitize.Line(g.pod))
		return err
	}
	t := newTable(g.stdout)
	for _, image := range list {
		fmt.Fprintf(t, "%.*s\t#%d\t%s\n", shownDigest, image.Digest, image.seq, sanitize.Line(image.String()))
	}
	return t.Flush()
}

// find finds an image by its name, by the last part of its name, or by its digest.
func (g gallery) find(ctx context.Context, wanted string) (loggedImage, error) {
	list, err := g.all(ctx)
	if err != nil {
		return loggedImage{}, err
	}
	for _, is := range []func(loggedImage) bool{
		func(l loggedImage) bool { return l.Name == wanted },
		func(l loggedImage) bool { return path.Base(l.Name) == wanted },
		func(l loggedImage) bool { return len(wanted) >= leastDigest && strings.HasPrefix(l.Digest, wanted) },
	} {
		var found []loggedImage
		for _, image := range list {
			if is(image) && !slices.ContainsFunc(found, func(l loggedImage) bool { return l.Digest == image.Digest }) {
				found = append(found, image)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			var digests []string
			for _, image := range found {
				digests = append(digests, fmt.Sprintf("%.*s (#%d)", shownDigest, image.Digest, image.seq))
			}
			return loggedImage{}, usagef("pod %s has %d images %q: name one by its digest: %s", g.pod, len(found), wanted, strings.Join(digests, ", "))
		}
	}
	return loggedImage{}, item.Errorf(item.KindNotFound, "IMAGE_NOT_FOUND", "pod %s has no image %q: podctl image %s lists them", g.pod, wanted, g.pod)
}

// save writes an image to a file that does not exist yet; "" and "-" are standard output.
func (g gallery) save(ctx context.Context, image loggedImage, file string) error {
	if _, is := terminal(g.stdout); is && (file == "" || file == "-") {
		return usagef("image does not write to a terminal: name a FILE, or redirect the output")
	}
	data, err := g.c.Image(ctx, image.Digest)
	if err != nil {
		return err
	}
	if file == "" || file == "-" {
		_, err := g.stdout.Write(data)
		return err
	}
	if err := writeNewFile(file, data); err != nil {
		return err
	}
	return g.print(wire.ImageToProto(image.Image), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "saved %s as %s: %s\n", sanitize.Line(image.String()), sanitize.Line(file), sanitize.Line(image.MediaType))
		return err
	})
}

// writeNewFile writes a file that does not exist yet. After a failure none is there.
func writeNewFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return item.Errorf(item.KindExists, "FILE_EXISTS", "%s already exists: choose another name", name)
	}
	if err == nil {
		_, err = f.Write(data)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(name)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot save the image: %w", err)
	}
	return nil
}

// complete offers pods, then the pod's images by name and digest, then files.
func (g gallery) complete(cmd *cobra.Command, args []string, start string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) == 2 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if len(args) > 2 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return g.completeOfPod(cmd, args, start, func(ctx context.Context, c *client.Client, pod string, offer func(value, about string)) error {
		list, err := gallery{g.program, c, pod}.all(ctx)
		for _, image := range list {
			for _, name := range []string{image.Name, image.Digest[:min(shownDigest, len(image.Digest))]} {
				if name != "" {
					offer(name, image.String())
				}
			}
		}
		return err
	})
}
