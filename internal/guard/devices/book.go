package devices

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// bookName is the record's file in the state directory.
const bookName = "devices.json"

// The limits of a book.
const (
	maxDevices = 100
	// MaxDays bounds how long a device is valid, usualDays is the default.
	MaxDays   = 366
	usualDays = 30
	// maxName bounds the name of a device, in bytes.
	maxName = 64
	// maxPods bounds how many pods a device names.
	maxPods = 100
)

// Device is a paired browser.
type Device struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Scope Scope  `json:"scope"`
	// Pods are the ids of the pods that it may know of; empty means all.
	Pods []string `json:"pods,omitempty"`
	// Key is the public key: SubjectPublicKeyInfo in DER.
	Key     []byte    `json:"key"`
	Paired  time.Time `json:"paired"`
	Expires time.Time `json:"expires"`
	// Seen is when it last logged in, since podd started.
	Seen time.Time `json:"-"`
}

// Book records the devices in a private file of the state directory, and knows in memory who is
// pairing and who has logged in. Its methods may be called from any goroutine.
type Book struct {
	path string

	mu         sync.Mutex
	devices    []Device
	pairings   []*Pairing
	challenges map[string]challenge
	sessions   map[hash]*session
}

// contents are the record in its stored form.
type contents struct {
	Devices []Device `json:"devices"`
}

// Open reads the record of a state directory, which need not exist yet.
func Open(stateDir string) (*Book, error) {
	b := &Book{path: filepath.Join(stateDir, bookName), challenges: map[string]challenge{}, sessions: map[hash]*session{}}
	var c contents
	if err := paths.ReadRecord(b.path, &c); err != nil {
		e := item.Errorf(item.KindPrecondition, "DEVICES", "cannot use the record of paired browsers %s (%v): repair it, or remove it and pair them again", b.path, err)
		e.Cause = err
		return nil, e
	}
	b.devices = c.Devices
	return b, nil
}

// write stores the devices; a change that is not stored has no effect. The caller holds mu.
func (b *Book) write(devices []Device) error {
	if err := paths.WriteRecord(b.path, contents{devices}); err != nil {
		e := item.Errorf(item.KindPrecondition, "DEVICES", "cannot write the record of paired browsers %s: check the directory and the free disk space", b.path)
		e.Cause = err
		return e
	}
	b.devices = devices
	return nil
}

// List are the devices that are valid, by name.
func (b *Book) List() []Device {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	list := slices.DeleteFunc(slices.Clone(b.devices), func(d Device) bool { return !now.Before(d.Expires) })
	slices.SortFunc(list, func(x, y Device) int { return strings.Compare(x.Name, y.Name) })
	return list
}

// valid is the device with an id; false if it does not exist or has expired. The caller
// holds mu.
func (b *Book) valid(id string) (Device, bool) {
	i := slices.IndexFunc(b.devices, func(d Device) bool { return d.ID == id })
	if i < 0 || !time.Now().Before(b.devices[i].Expires) {
		return Device{}, false
	}
	return b.devices[i], true
}

// add makes a device of a pairing that the person answered. The caller holds mu.
func (b *Book) add(p *Pairing) (Device, error) {
	now := time.Now()
	kept := slices.DeleteFunc(slices.Clone(b.devices), func(d Device) bool { return !now.Before(d.Expires) })
	if len(kept) >= maxDevices {
		return Device{}, item.Errorf(item.KindExhausted, "TOO_MANY_DEVICES", "%d browsers are paired, the most that podd keeps: revoke one with podctl web revoke", len(kept))
	}
	id := make([]byte, 16)
	rand.Read(id)
	d := Device{
		ID: hex.EncodeToString(id), Name: free(p.name, kept), Scope: p.grant.Scope, Pods: p.grant.Pods, Key: p.key,
		Paired: now.UTC().Truncate(time.Second), Expires: now.AddDate(0, 0, p.grant.Days).UTC().Truncate(time.Second),
	}
	return d, b.write(append(kept, d))
}

// free is a name that no device has: the wanted one, or one with a number behind it.
func free(name string, devices []Device) string {
	wanted := name
	for n := 2; slices.ContainsFunc(devices, func(d Device) bool { return d.Name == name }); n++ {
		name = fmt.Sprintf("%s %d", wanted, n)
	}
	return name
}

// Revoke removes a device, by name or id, and ends its sessions.
func (b *Book) Revoke(named string) (Device, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.devices, func(d Device) bool { return d.ID == named })
	if i < 0 {
		i = slices.IndexFunc(b.devices, func(d Device) bool { return d.Name == named })
	}
	if i < 0 {
		return Device{}, item.Errorf(item.KindNotFound, "DEVICE_NOT_FOUND", "no browser %q is paired: podctl web devices lists them", named)
	}
	d := b.devices[i]
	if err := b.write(slices.Delete(slices.Clone(b.devices), i, i+1)); err != nil {
		return Device{}, err
	}
	for key, s := range b.sessions {
		if s.device == d.ID {
			s.end(errRevoked)
			delete(b.sessions, key)
		}
	}
	return d, nil
}
