#include "troupe/actors/exchange.hpp"

#include "troupe/actors/errors.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/actors/step_server.hpp"
#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/files/statistics.hpp"
#include "troupe/serialization/wire/link.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/io/broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/send.hpp>

#include <map>
#include <set>

namespace troupe {
namespace {

// How many bytes lie in a connection's buffer at most: enough to keep it busy, few enough that
// urgent messages do not queue behind payload.
constexpr size_t write_window = 1024 * 1024;

// A broker whose mailbox is closed when it ends. CAF's own leave it open: later messages stay in it
// for good, with their senders, and requests hang (docs/decisions/003).
class closing_broker : public caf::io::broker {
public:
  using caf::io::broker::broker;
  bool cleanup(caf::error&& reason, caf::execution_unit* host) override {
    close_all();
    return scheduled_actor::cleanup(std::move(reason), host);
  }
};

} // namespace
} // namespace troupe

template <>
struct caf::behavior_type_of<troupe::closing_broker> {
  using type = caf::behavior;
};

namespace troupe {
namespace {

// CAF's multiplexer writes.
class broker_connection final : public connection {
public:
  broker_connection(caf::io::broker* self, caf::io::connection_handle handle)
      : self_(self), handle_(handle) {
    self_->configure_read(handle_, caf::io::receive_policy::at_most(64 * 1024));
    self_->ack_writes(handle_, true);
  }
  std::vector<char>& buffer() override { return self_->wr_buf(handle_); }
  void flush() override { self_->flush(handle_); }
  void close() override { self_->close(handle_); }

private:
  caf::io::broker* self_;
  caf::io::connection_handle handle_;
};

class exchange {
public:
  exchange(caf::scheduled_actor* self, std::shared_ptr<connection> connection,
           exchange_options options)
      : self_(self), connection_(std::move(connection)), options_(std::move(options)),
        peer_(options_.expected ? to_string(*options_.expected) : "an unknown peer"),
        link_({.self = options_.self, .timeout = options_.peer_timeout},
              {.on_hello = [this](const hello& who) { return meet(who); },
               .on_message = [this](message what) { dispatch(std::move(what)); }}) {}

  void start() {
    // Whoever this belongs to ends it, even when it lies idle with a lost peer.
    if (options_.owner)
      self_->monitor(options_.owner);
    if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
      self_->monitor(opener);
    pump();
    tick();
  }

  void received(const std::vector<char>& bytes) {
    if (gone_)
      return;
    if (auto taken = link_.receive(std::as_bytes(std::span{bytes})); !taken) {
      pump(); // a refusal may still have to leave
      end(std::move(taken));
    } else {
      pump();
    }
  }

  void written(size_t remaining) {
    in_socket_ = remaining;
    pump();
  }

  void tick() {
    if (gone_)
      return;
    if (auto alive = link_.tick(self_->clock().now()); !alive)
      return end(std::move(alive));
    pump();
  }

  void send(message&& what) {
    auto sent = gone_ ? lost_ : link_.send(what);
    if (!sent)
      cannot_send(what, sent);
    pump();
  }

  // Sends a question; its answer, or the end of the connection, answers the promise.
  template <class Promise>
  void ask(message&& question, Promise promise) {
    auto request = next_request_++;
    std::visit(
        [&](auto& one) {
          if constexpr (requires { one.request; })
            one.request = request;
        },
        question);
    if (gone_)
      return promise.deliver(to_caf(lost_));
    if (auto sent = link_.send(question); !sent)
      return promise.deliver(to_caf(std::move(sent).within(peer_)));
    asked_.emplace(request, std::move(promise));
    pump();
  }

  void end(status why) {
    if (std::exchange(gone_, true))
      return;
    lost_ = failure(error_kind::unavailable, peer_, ": ", why.message());
    for (auto& [request, promise] : asked_)
      promise.deliver(to_caf(lost_));
    asked_.clear();
    if (options_.server)
      options_.server->lose(*from_, why);
    peer_gone news{peer_, std::move(why)};
    if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
      caf::anon_send(opener, news);
    // What is in the write buffer still leaves. The actor stays as long as somebody holds it: it
    // tells those who ask why the peer is gone (docs/decisions/003).
    connection_->close();
  }

  void say_goodbye() {
    if (!gone_ && link_.send(goodbye{"it shuts down"}).ok())
      pump();
    end(failure(error_kind::cancelled, "this process shuts down"));
    self_->quit();
  }

private:
  // The peer has introduced itself.
  status meet(const hello& who) {
    if (options_.expected) {
      if (who.role != "task" || task_name{who.job, who.task} != *options_.expected)
        return failure(error_kind::failed_precondition, "expected ", *options_.expected, " at ",
                       options_.address, ", found ",
                       who.role == "task" ? to_string(task_name{who.job, who.task}) : who.role);
    } else {
      peer_ = who.role == "task" ? to_string(task_name{who.job, who.task})
                                 : concat("client ", who.incarnation);
    }
    if (!who.cluster.empty() && !options_.self.cluster.empty() &&
        who.cluster != options_.self.cluster)
      return failure(error_kind::failed_precondition, peer_, " belongs to the cluster '",
                     who.cluster, "', this process to '", options_.self.cluster, "'");
    if (options_.known && who.role == "task")
      TROUPE_TRY(options_.known->meet(peer_, who.incarnation));
    from_->peer = peer_;
    from_->incarnation = who.incarnation;
    from_->exchange = self_->address();
    if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
      caf::anon_send(opener, peer_ready{who, from_});
    return {};
  }

  void dispatch(message&& what) {
    if (options_.server &&
        options_.server->serve(what, from_, caf::actor_cast<caf::actor>(self_))) {
      // done
    } else if (auto* done = std::get_if<register_reply>(&what)) {
      settle(done->request, [&](auto& promise) {
        if (done->outcome)
          promise.deliver(registered{done->handle, nullptr});
        else
          promise.deliver(to_caf(done->outcome));
      });
    } else if (auto* step = std::get_if<step_done>(&what)) {
      settle(step->request, [&](auto& promise) {
        step_result result{std::move(step->outcome), std::move(step->fetches)};
        if (!step->statistics.empty())
          if (auto read = read_statistics(bytes_of(step->statistics)))
            result.statistics = *std::move(read);
        promise.deliver(std::move(result));
      });
    } else if (auto* answer = std::get_if<reply>(&what)) {
      settle(answer->request, [&](auto& promise) { promise.deliver(answer->outcome); });
    } else if (auto* list = std::get_if<device_list_reply>(&what)) {
      settle(list->request, [&](auto& promise) {
        std::vector<device_info> devices;
        for (auto& one : list->devices)
          devices.push_back({one.name, one.kind, one.memory_bytes, one.description});
        promise.deliver(std::move(devices));
      });
    } else if (std::holds_alternative<goodbye>(what)) {
      end(failure(error_kind::unavailable, "it has shut down"));
    } else if (options_.owner) {
      caf::anon_send(options_.owner,
                     incoming{std::move(what), caf::actor_cast<caf::actor>(self_), from_});
    }
  }

  template <class Deliver>
  void settle(uint64_t request, Deliver deliver) {
    if (auto it = asked_.find(request); it != asked_.end()) {
      deliver(it->second);
      asked_.erase(it);
    }
  }

  // An answer or tensor that cannot leave must not leave its receiver waiting.
  void cannot_send(const message& what, const status& why) {
    TROUPE_REACHED("a message cannot be sent");
    if (auto* push = std::get_if<tensor_push>(&what); push && options_.server)
      options_.server->cannot_send(push->step, self_->address(),
                                   status{why}.within(concat("sending to ", peer_)));
    else if (auto* done = std::get_if<step_done>(&what); done && !gone_)
      (void)link_.send(step_done{done->request, why, {}}).ok();
  }

  void pump() {
    if (gone_ || in_socket_ >= write_window / 2 || link_.idle())
      return;
    auto window = write_window - in_socket_;
    if (TROUPE_BUGGIFY("an exchange writes a few bytes at a time"))
      window = 7;
    in_socket_ += link_.fill(connection_->buffer(), window);
    connection_->flush();
  }

  caf::scheduled_actor* self_;
  std::shared_ptr<connection> connection_;
  exchange_options options_;
  std::string peer_;
  connection_ptr from_ = std::make_shared<peer_connection>();
  troupe::link link_;
  size_t in_socket_ = 0;
  uint64_t next_request_ = 1;
  std::map<uint64_t, caf::response_promise> asked_;
  bool gone_ = false;
  status lost_;
};

// What an exchange understands, whatever its connection is.
caf::message_handler exchange_messages(caf::scheduled_actor* self,
                                       const std::shared_ptr<exchange>& state) {
  self->set_default_handler(caf::drop);
  self->set_exit_handler([=](const caf::exit_msg&) { state->say_goodbye(); });
  self->set_down_handler([=](const caf::down_msg&) { state->say_goodbye(); });
  state->start();
  return {
      [=](outgoing& what) { state->send(std::move(what.content)); },
      [=](run_request& what) -> caf::result<step_result> {
        auto promise = self->make_response_promise();
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(what.deadline -
                                                                          self->clock().now());
        state->ask(
            run_step{.request = 0,
                     .handle = what.handle,
                     .step = what.step,
                     .deadline_ms = static_cast<uint64_t>(std::max<int64_t>(left.count(), 1)),
                     .feeds = std::move(what.feeds),
                     .times = what.watch.times,
                     .check_numerics = what.watch.check_numerics,
                     .incarnation = what.incarnation},
            promise);
        return promise;
      },
      [=](const wire_registration& what) -> caf::result<registered> {
        auto promise = self->make_response_promise();
        state->ask(register_graph{*what}, promise);
        return promise;
      },
      [=](const forget_program& what) { state->send(deregister_graph{what.handle}); },
      [=](const reset_request& what) -> caf::result<status> {
        auto promise = self->make_response_promise();
        state->ask(container_reset{.request = 0, .container = what.container}, promise);
        return promise;
      },
      [=](list_devices_atom) -> caf::result<std::vector<device_info>> {
        auto promise = self->make_response_promise();
        state->ask(device_list_request{}, promise);
        return promise;
      },
      [=](tick_atom) { state->tick(); },
  };
}

status connection_closed() { return failure(error_kind::unavailable, "the connection was closed"); }

caf::behavior exchange_behavior(closing_broker* self, caf::io::connection_handle connection,
                                const std::shared_ptr<exchange_options>& options) {
  auto state = std::make_shared<exchange>(
      self, std::make_shared<broker_connection>(self, connection), std::move(*options));
  return caf::message_handler{
      [=](const caf::io::new_data_msg& what) { state->received(what.buf); },
      [=](const caf::io::data_transferred_msg& what) { state->written(what.remaining); },
      [=](const caf::io::connection_closed_msg&) { state->end(connection_closed()); },
  }
      .or_else(exchange_messages(self, state));
}

caf::behavior connected_exchange(caf::event_based_actor* self,
                                 const std::shared_ptr<connection>& connection,
                                 const std::shared_ptr<exchange_options>& options) {
  auto state = std::make_shared<exchange>(self, connection, std::move(*options));
  return caf::message_handler{
      [=](const bytes_came& what) { state->received(what.bytes); },
      [=](const bytes_left& what) { state->written(what.remaining); },
      [=](connection_ended_atom) { state->end(connection_closed()); },
  }
      .or_else(exchange_messages(self, state));
}

// Listener -> itself: now it may go. No answer.
using leave_atom = caf::atom_constant<caf::atom("leave")>;

struct listener_state {
  explicit listener_state() {}
  static inline const char* name = "troupe.listener";
  std::set<caf::actor_addr> exchanges; // to end them with us
};

caf::behavior listener_behavior(caf::stateful_actor<listener_state, closing_broker>* self,
                                int socket, const std::shared_ptr<exchange_options>& options) {
  self->add_doorman(socket);
  self->set_default_handler(caf::drop);
  self->set_down_handler(
      [=](const caf::down_msg& what) { self->state.exchanges.erase(what.source); });
  auto period = options->peer_timeout / ticks_per_timeout;
  self->delayed_send(self, period, tick_atom::value);
  self->set_exit_handler([=](const caf::exit_msg& what) {
    for (const auto& one : self->state.exchanges)
      if (auto exchange = caf::actor_cast<caf::actor>(one))
        self->send_exit(exchange, what.reason);
    // In another turn of CAF's event loop, which loses a doorman that comes and goes in one.
    self->system().middleman().backend().post([listener = caf::actor_cast<caf::actor>(self)] {
      caf::anon_send(listener, leave_atom::value);
    });
  });
  return {
      [=](leave_atom) { self->quit(caf::exit_reason::user_shutdown); },
      [=](const caf::io::new_connection_msg& what) {
        auto exchange = self->fork(exchange_behavior, what.handle,
                                   std::make_shared<exchange_options>(*options));
        self->monitor(exchange);
        self->state.exchanges.insert(exchange.address());
      },
      [=](tick_atom tick) {
        for (const auto& one : self->state.exchanges)
          if (auto exchange = caf::actor_cast<caf::actor>(one))
            self->send(exchange, tick);
        self->delayed_send(self, period, tick);
      },
      [=](const caf::io::acceptor_closed_msg&) { self->quit(); },
  };
}

} // namespace

caf::actor spawn_listener(caf::actor_system& system, int socket, exchange_options options) {
  return system.middleman().spawn_broker(listener_behavior, socket,
                                         std::make_shared<exchange_options>(std::move(options)));
}

caf::actor spawn_exchange(caf::actor_system& system, int socket, exchange_options options) {
  auto shared = std::make_shared<exchange_options>(std::move(options));
  return system.middleman().spawn_broker([=](closing_broker* self) -> caf::behavior {
    return exchange_behavior(self, self->add_scribe(socket), shared);
  });
}

caf::actor spawn_exchange(caf::actor_system& system, std::shared_ptr<connection> connection,
                          exchange_options options) {
  return system.spawn(connected_exchange, std::move(connection),
                      std::make_shared<exchange_options>(std::move(options)));
}

} // namespace troupe
