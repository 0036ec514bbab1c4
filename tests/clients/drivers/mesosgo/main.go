// mesos-go's v1 library as a scheduler and as an operator: MASTER_URL json|protobuf. One JSON line for each event.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mesos/mesos-go/api/v1/lib"
	"github.com/mesos/mesos-go/api/v1/lib/encoding/codecs"
	"github.com/mesos/mesos-go/api/v1/lib/extras/scheduler/controller"
	"github.com/mesos/mesos-go/api/v1/lib/extras/scheduler/eventrules"
	"github.com/mesos/mesos-go/api/v1/lib/extras/store"
	"github.com/mesos/mesos-go/api/v1/lib/httpcli"
	"github.com/mesos/mesos-go/api/v1/lib/httpcli/httpmaster"
	"github.com/mesos/mesos-go/api/v1/lib/httpcli/httpsched"
	"github.com/mesos/mesos-go/api/v1/lib/master"
	mastercalls "github.com/mesos/mesos-go/api/v1/lib/master/calls"
	"github.com/mesos/mesos-go/api/v1/lib/resources"
	"github.com/mesos/mesos-go/api/v1/lib/scheduler"
	"github.com/mesos/mesos-go/api/v1/lib/scheduler/calls"
	"github.com/mesos/mesos-go/api/v1/lib/scheduler/events"
)

var errDone = errors.New("done")

func tell(event string, more map[string]interface{}) {
	line := map[string]interface{}{"event": event}
	for key, value := range more {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

type player struct {
	caller   calls.Caller
	launched bool
}

func (p *player) offers(ctx context.Context, e *scheduler.Event) error {
	for _, offer := range e.GetOffers().GetOffers() {
		plain := map[string]bool{}
		for _, r := range offer.Resources {
			if r.ProviderID == nil {
				plain[r.Name] = true
			}
		}
		if p.launched || !plain["cpus"] || !plain["mem"] {
			decline := calls.Decline(offer.ID).With(calls.RefuseSeconds(200 * time.Millisecond))
			if err := calls.CallNoData(ctx, p.caller, decline); err != nil {
				return err
			}
			continue
		}
		p.launched = true
		command := "echo hello"
		task := mesos.TaskInfo{
			Name:      "hello",
			TaskID:    mesos.TaskID{Value: "mesos-go-" + os.Args[2]},
			AgentID:   offer.AgentID,
			Command:   &mesos.CommandInfo{Value: &command},
			Resources: []mesos.Resource{resources.NewCPUs(0.1).Resource, resources.NewMemory(32).Resource},
		}
		accept := calls.Accept(calls.OfferOperations{calls.OpLaunch(task)}.WithOffers(offer.ID))
		if err := calls.CallNoData(ctx, p.caller, accept); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) update(ctx context.Context, e *scheduler.Event) error {
	status := e.GetUpdate().GetStatus()
	tell("update", map[string]interface{}{
		"state": status.GetState().String(), "task_id": status.TaskID.Value, "message": status.GetMessage(),
	})
	switch status.GetState() {
	case mesos.TASK_STAGING, mesos.TASK_STARTING, mesos.TASK_RUNNING:
		return nil
	}
	return errDone
}

func schedule(ctx context.Context, codec httpcli.Opt, url string) error {
	caller := httpsched.NewCaller(httpcli.New(httpcli.Endpoint(url+"/api/v1/scheduler"), codec))
	id := store.NewInMemorySingleton()
	identified := calls.CallerFunc(func(ctx context.Context, c *scheduler.Call) (mesos.Response, error) {
		return caller.Call(ctx, c.With(calls.Framework(store.GetIgnoreErrors(id)())))
	})
	p := &player{caller: identified}
	tokens := make(chan struct{}, 1)
	tokens <- struct{}{}
	close(tokens)
	handler := eventrules.New(
		controller.LiftErrors(),
		controller.TrackSubscription(id, 0),
		controller.AckStatusUpdates(identified),
	).Handle(events.HandlerFuncs{
		scheduler.Event_SUBSCRIBED: func(_ context.Context, e *scheduler.Event) error {
			tell("subscribed", map[string]interface{}{
				"framework_id": e.GetSubscribed().GetFrameworkID().GetValue(),
				"interval":     e.GetSubscribed().GetHeartbeatIntervalSeconds(),
			})
			return nil
		},
		scheduler.Event_OFFERS: p.offers,
		scheduler.Event_UPDATE: p.update,
	})
	framework := &mesos.FrameworkInfo{User: "root", Name: "mesos-go"}
	err := controller.Run(ctx, framework, caller,
		controller.WithEventHandler(handler), controller.WithRegistrationTokens(tokens),
		controller.WithFrameworkID(store.GetIgnoreErrors(id)))
	if err != errDone {
		return fmt.Errorf("the event loop ended with: %v", err)
	}
	return nil
}

func operate(ctx context.Context, codec httpcli.Opt, url string) error {
	// The library is of 2017 and its JSON decoder ends at the name of an enum value that is newer. Agents of Mesos 1.12
	// tell such capabilities, so that a reader of theirs has to ask for protobuf.
	withAgents := os.Args[2] != "json"
	sender := httpmaster.NewSender(httpcli.New(httpcli.Endpoint(url+"/api/v1"), codec).Send)
	for _, call := range []*master.Call{
		mastercalls.GetHealth(), mastercalls.GetFlags(), mastercalls.GetVersion(), mastercalls.GetMetrics(nil),
		mastercalls.GetLoggingLevel(), mastercalls.GetState(), mastercalls.GetAgents(), mastercalls.GetFrameworks(),
		mastercalls.GetExecutors(), mastercalls.GetTasks(), mastercalls.GetRoles(), mastercalls.GetWeights(),
		mastercalls.GetMaster(), mastercalls.GetMaintenanceStatus(), mastercalls.GetMaintenanceSchedule(),
		mastercalls.GetQuota(),
	} {
		if tellsAgents := call.GetType() == master.Call_GET_STATE || call.GetType() == master.Call_GET_AGENTS; tellsAgents && !withAgents {
			continue
		}
		response, err := sender.Send(ctx, mastercalls.NonStreaming(call))
		if err != nil {
			return fmt.Errorf("%v: %v", call.GetType(), err)
		}
		var answer master.Response
		err = response.Decode(&answer)
		response.Close()
		if err != nil {
			return fmt.Errorf("%v: %v", call.GetType(), err)
		}
		tell("answer", map[string]interface{}{"call": call.GetType().String(), "type": answer.GetType().String()})
	}
	level := mastercalls.SetLoggingLevel(1, time.Second)
	if err := mastercalls.SendNoData(ctx, sender, mastercalls.NonStreaming(level)); err != nil {
		return err
	}
	if !withAgents {
		return nil
	}
	response, err := sender.Send(ctx, mastercalls.NonStreaming(mastercalls.Subscribe()))
	if err != nil {
		return err
	}
	defer response.Close()
	var event master.Event
	if err := response.Decode(&event); err != nil {
		return err
	}
	tell("watched", map[string]interface{}{
		"type": event.GetType().String(), "agents": len(event.GetSubscribed().GetGetState().GetGetAgents().GetAgents()),
	})
	return nil
}

func main() {
	url, media := os.Args[1], os.Args[2]
	codec := httpcli.Codec(codecs.ByMediaType[codecs.MediaTypeProtobuf])
	if media == "json" {
		codec = httpcli.Codec(codecs.ByMediaType[codecs.MediaTypeJSON])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	for _, part := range []func(context.Context, httpcli.Opt, string) error{schedule, operate} {
		if err := part(ctx, codec, url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	tell("stopped", nil)
}
