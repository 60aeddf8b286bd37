#include "troupe/actors/network/exchange.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/inline_unit.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/execution/socket_writer.hpp"
#include "troupe/actors/network/access_control.hpp"
#include "troupe/actors/network/link_log.hpp"
#include "troupe/actors/network/pending_request.hpp"
#include "troupe/actors/network/process_memory_reader.hpp"
#include "troupe/actors/network/request_to_wire.hpp"
#include "troupe/actors/network/session_request_handler.hpp"
#include "troupe/actors/network/to_run_step.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/reports/inspection_json.hpp"
#include "troupe/serialization/reports/statistics.hpp"
#include "troupe/serialization/tls/certificate_name.hpp"
#include "troupe/serialization/wire/link.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <caf/default_attachable.hpp>
#include <caf/send.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>
#include <map>
#include <mutex>

#include <sys/uio.h>
#include <unistd.h>

namespace troupe {
namespace {

// Ticks per peer timeout: how often the silence of the peer is checked.
constexpr int ticks_per_timeout = 6;
// The loop's thread serves other sockets after this number of reads.
constexpr int max_reads = 8;
// The number of bytes that are read behind the rest of a payload: the next header, and little more.
constexpr size_t bytes_beside_gap = 4096;
// The smallest payload that is read from the peer's memory: smaller ones come as fast through the
// socket.
constexpr uint64_t min_lent_payload = 256 * 1024;
// The number of bytes that are read from a peer's memory before other sockets are served.
constexpr size_t max_lent_read = 2 * 1024 * 1024;
// The largest buffer from the loop's memory: larger ones would not stay in its cache.
constexpr uint64_t max_cached = uint64_t{256} << 20;
// Limits of a peer on unanswered inspections, whose answers may be large, and on bytes of answers
// that it has not read: beyond them, further inspections are refused.
constexpr size_t max_inspections = 64;
constexpr uint64_t max_unread_answers = 64 * 1024 * 1024;
// The limit of payloads of a client that lacks the rights for all requests with payloads.
constexpr uint64_t max_bytes_without_rights = 1024 * 1024;

// The work that the loop's thread may run.
inline_unit::kinds kinds_of(const io_loop& loop) noexcept {
  return loop.is_shared() ? inline_unit::kinds::own_actors_and_brief_work
                          : inline_unit::kinds::actors_and_brief_work;
}

class exchange_actor final : public inline_actor, public socket_handler {
public:
  exchange_actor(caf::actor_config& config, std::unique_ptr<byte_stream> stream,
                 exchange_options options)
      : inline_actor(config), stream_(std::move(stream)), options_(std::move(options)),
        loop_(options_.loop),
        peer_name_(options_.expected ? to_string(*options_.expected) : "an unknown peer"),
        memory_token_(lend_memory()), link_({.self = options_.self,
                                             .timeout = options_.peer_timeout,
                                             .memory = &loop_->memory(),
                                             .max_pooled_payload = max_cached,
                                             .memory_token = memory_token_},
                                            callbacks()),
        socket_writer_(*stream_, *loop_, link_, *this, &connection_->sent) {}

  const char* name() const override { return "troupe.exchange"; }

  void start() {
    register_at_system(); // the system waits until the loop has removed this actor
    // The end of the owner or the opener ends this actor, even if it is idle with a lost peer.
    for (const auto& actor : watched())
      actor->get()->attach(
          caf::default_attachable::make_monitor(actor->get()->address(), address()));
    auto id = stream_->id(); // read now, because the actor may end soon
    auto has_buffered_input = stream_->has_buffered_input();
    auto outcome = loop_->add(id, *this, options_.peer_timeout / ticks_per_timeout,
                              std::make_shared<caf::actor>(as_actor()));
    {
      std::lock_guard guard{mutex_};
      is_in_loop_ = true;
      if (has_ended_) // the owner had ended already
        return loop_->remove(id);
    }
    if (!outcome)
      return end(std::move(outcome));
    if (has_buffered_input) // buffered input does not make the socket readable
      loop_->call_soon(id);
    tick(home_system().clock().now());
  }

  // -- on the loop's thread

  size_t ready(bool readable, bool writable, std::span<std::byte> scratch) override {
    size_t moved = 0;
    run_or_end([&] {
      moved = transfer(readable, writable, scratch);
      if (!is_closed() && link_.has_lent_payloads())
        moved += read_lent_memory();
    });
    unit_ = nullptr;
    return moved;
  }

  void tick(std::chrono::steady_clock::time_point now) override {
    if (is_closed())
      return;
    run_or_end([&] {
      if (auto outcome = link_.tick(now); !outcome)
        return end(std::move(outcome));
      socket_writer_.write_some();
    });
  }

  void removed() override {
    socket_writer_.close();
    link_.abandon(failure(error_kind::unavailable, "the connection has ended"));
    // Closing with unread input would reset the connection, and the peer would lose the last
    // message.
    stream_->drop_input();
    auto watching = watched();
    {
      std::lock_guard guard{mutex_}; // cannot_send() reads the owner on other threads
      stream_.reset();
      options_.owner = nullptr;
    }
    for (const auto& actor : watching)
      actor->get()->detach(
          caf::default_attachable::observe_token{address(), caf::default_attachable::monitor});
    cleanup(caf::exit_reason::user_shutdown, nullptr);
    unregister_from_system();
  }

protected:
  bool receive(caf::mailbox_element& message, caf::execution_unit*) override {
    bool is_handled = true;
    if (!run_or_end([&] { is_handled = handle(message); }) && message.mid.is_request()) {
      std::lock_guard guard{mutex_};
      pending_request{message.sender, message.mid}.answer(to_caf(lost_));
    }
    return is_handled;
  }

private:
  // Writes to the hello where a peer on this machine finds the lent memory. Null: it is not lent.
  std::shared_ptr<lending_token> lend_memory() {
    if (!options_.same_host_reads || !process_memory_reader::within_machine(stream_->socket()))
      return nullptr;
    auto token = std::make_shared<lending_token>();
    options_.self.process_id = static_cast<uint32_t>(::getpid());
    options_.self.token_address = reinterpret_cast<uint64_t>(token->words.data());
    for (size_t i = 0; i < token->words.size(); ++i)
      token->words[i] = options_.self.token[i] = random_id();
    return token;
  }

  link_callbacks callbacks() {
    link_callbacks result{
        .on_hello = [this](const hello& peer_hello) { return accept_hello(peer_hello); },
        .on_message = [this](message received) { dispatch(std::move(received)); }};
    if (auto* server = options_.server.get()) {
      // A client sends tensors as feeds only: announced ones are refused, and take no memory of
      // tasks.
      result.wanted = [=, this](step_id step) {
        return connection_->account ? fetch_decision::never : server->expect(step, address());
      };
      result.on_lost = [=](step_id step, status why) {
        server->steps().abort(step, std::move(why), nullptr);
      };
      result.on_announce = [=, this](step_id step) { server->steps().watch(step, address()); };
    }
    return result;
  }

  caf::actor as_actor() { return caf::actor_cast<caf::actor>(static_cast<abstract_actor*>(this)); }

  // If `act` throws (out of memory), a message is lost: ends the connection, and returns false.
  template <class Act>
  bool run_or_end(Act act) noexcept {
    try {
      act();
      return true;
    } catch (const std::exception& thrown) {
      end(failure(error_kind::resource_exhausted, thrown.what()));
      return false;
    }
  }

  bool handle(caf::mailbox_element& message) {
    pending_request requester{message.sender, message.mid};
    if (auto* sent = content_if<outgoing>(message))
      send(sent->content);
    else if (auto* query = content_if<link_stats_query>(message))
      *query->result = link_stats();
    else if (auto* run_message = content_if<run_request>(message))
      send_request(to_run_step(*run_message, home_system().clock().now()), requester);
    else if (auto* step_change = content_if<step_news>(message))
      review_step(*step_change);
    else if (auto* dropped = content_if<forget_program>(message))
      send(deregister_graph{dropped->handle});
    else if (auto question = request_to_wire(message))
      send_request(*std::move(question), requester);
    else if (content_if<caf::exit_msg>(message) || content_if<caf::down_msg>(message))
      say_goodbye();
    else
      return false;
    return true;
  }

  size_t transfer(bool readable, bool writable, std::span<std::byte> scratch) {
    auto moved = writable ? socket_writer_.flush() : 0;
    inline_unit unit{home_system(), kinds_of(*loop_)};
    unit_ = &unit;
    readable = readable || stream_->has_buffered_input();
    for (int i = 0; readable && i < max_reads && !is_closed(); ++i) {
      auto gap = link_.receive_space();
      // Behind a chunk, reads little more than the next header: the following payload is then read
      // directly into its buffer.
      auto beside_gap = scratch.first(gap.empty() ? scratch.size() : bytes_beside_gap);
      std::array<iovec, 2> places{iovec{gap.data(), gap.size()},
                                  iovec{beside_gap.data(), beside_gap.size()}};
      auto received = stream_->read(places);
      if (received < 0 && errno == EINTR)
        continue;
      if (received < 0 && errno == EAGAIN)
        break;
      if (received <= 0) {
        end(received == 0 ? failure(error_kind::unavailable, "the connection was closed")
                          : stream_->error_of(errno));
        break;
      }
      auto size = static_cast<size_t>(received);
      moved += size;
      connection_->hear(size);
      if (auto fed = feed(size, gap.size(), beside_gap); !fed)
        end(std::move(fed));
      // A short read means that the socket is empty, which is the usual case.
      if (size < gap.size() + beside_gap.size())
        break;
    }
    if (!is_closed() && stream_->has_buffered_input())
      loop_->call_again(stream_->id());
    return moved;
  }

  // Reads from the peer's memory, and no more at once than other sockets can wait for.
  size_t read_lent_memory() {
    inline_unit unit{home_system(), kinds_of(*loop_)};
    unit_ = &unit;
    auto bytes_read = link_.read_lent(max_lent_read);
    if (bytes_read && link_.has_lent_payloads())
      loop_->call_again(stream_->id());
    socket_writer_.write_some();
    unit.run();
    if (!bytes_read) {
      end(bytes_read.status());
      return 0;
    }
    // Not hear(): the memory of a frozen peer can be read, too.
    connection_->received.fetch_add(*bytes_read, std::memory_order_relaxed);
    return *bytes_read;
  }

  std::vector<caf::strong_actor_ptr> watched() const {
    std::vector<caf::strong_actor_ptr> actors;
    if (options_.owner)
      actors.push_back(caf::actor_cast<caf::strong_actor_ptr>(options_.owner));
    if (auto opener = caf::actor_cast<caf::strong_actor_ptr>(options_.opener))
      actors.push_back(std::move(opener));
    return actors;
  }

  bool is_closed() const {
    std::lock_guard guard{mutex_};
    return is_closed_;
  }

  // Passes received bytes on to the link: the first `gap` ones are in the link's buffer already.
  status feed(size_t size, size_t gap, std::span<const std::byte> scratch) {
    auto in_place = std::min(size, gap);
    status outcome;
    if (in_place > 0)
      outcome = link_.commit(in_place);
    if (outcome.ok() && size > in_place)
      outcome = link_.receive(scratch.first(size - in_place));
    socket_writer_.write_some();
    unit_->run();
    return outcome;
  }

  void send(const message& content) {
    if (const auto* inspected = std::get_if<inspect_reply>(&content))
      count_answer(static_cast<uint64_t>(inspected->tree.bytes()));
    else if (std::holds_alternative<state_list_reply>(content))
      count_answer(0); // the answer is inline in the message
    auto sent = link_.send(content);
    if (sent.ok())
      socket_writer_.write_some();
    else
      cannot_send(content, std::move(sent));
  }

  link_stats_query::stats link_stats() const {
    auto waiting = link_.queued_output();
    auto pending = link_.pending_bytes();
    auto drained = link_.drained();
    std::lock_guard guard{mutex_};
    drained = is_closed_ || (drained && !(stream_ && stream_->has_unsent_output()));
    return {waiting.messages, waiting.payloads, pending, pending_.size(), drained};
  }

  // A step has begun here, failed or ended, so announced tensors may be wanted now, or no more.
  void review_step(const step_news& change) {
    status outcome;
    if (change.failed)
      outcome = link_.withdraw(change.step);
    if (outcome)
      outcome = link_.review(change.step);
    if (!outcome)
      end(std::move(outcome));
    socket_writer_.write_some();
  }

  // Sends a request. Its answer, or the end of the connection, answers the requester.
  void send_request(message content, const pending_request& requester) {
    uint64_t number = 0;
    {
      std::lock_guard guard{mutex_};
      if (is_closed_)
        return requester.answer(to_caf(lost_));
      number = next_request_++;
      pending_.emplace(number, requester); // before it is sent: the answer may come at once
    }
    std::visit(
        [&](auto& part) {
          if constexpr (requires { part.request; })
            part.request = number;
        },
        content);
    if (auto sent = link_.send(content); !sent)
      return settle(number, [&](const pending_request& failed_request) {
        failed_request.answer(to_caf(std::move(sent).with_context(peer())));
      });
    socket_writer_.write_some();
  }

  void end(status why, bool orderly = false) {
    peer_gone closed{{}, why, connection_, !options_.expected, orderly};
    {
      std::lock_guard guard{mutex_};
      if (std::exchange(is_ending_, true))
        return;
      lost_ = failure(error_kind::unavailable, peer_name_, ": ", why.message());
      closed.peer = peer_name_;
      if (connection_->account)
        --connection_->account->connections;
    }
    if (options_.server && options_.server->log())
      log_link_lost(*options_.server, *connection_, closed.peer, options_.expected.has_value(), why,
                    orderly || why.kind() == error_kind::cancelled);
    else if (options_.on_warning && why.kind() != error_kind::unavailable &&
             why.kind() != error_kind::cancelled)
      options_.on_warning(concat("the connection from ", closed.peer, " ends: ", why.message()));
    // Before the answers: a requester that gets the error asks the membership for another link.
    if (options_.server)
      options_.server->connection_ended(*connection_, why);
    if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
      caf::anon_send(opener, closed);
    std::unique_lock lock{mutex_};
    is_closed_ = true;
    auto unanswered_requests = std::exchange(pending_, {});
    lock.unlock();
    for (auto& [request, requester] : unanswered_requests)
      requester.answer(to_caf(lost_));
    // A refusal may still have to be sent. Later requests are answered with lost_ (decision 003).
    socket_writer_.finish();
    lock.lock();
    has_ended_ = true;
    if (is_in_loop_)
      loop_->remove(stream_->id());
  }

  void say_goodbye() {
    if (!is_closed() && link_.send(goodbye{"it shuts down"}).ok())
      socket_writer_.write_some();
    end(failure(error_kind::cancelled, "this process shuts down"));
  }

  // Checks the hello of the peer, and opens the connection for requests.
  status accept_hello(const hello& peer_hello) {
    if (options_.expected) {
      if (peer_hello.role != "task" ||
          task_name{peer_hello.job, peer_hello.task} != *options_.expected)
        return failure(error_kind::failed_precondition, "expected ", *options_.expected, " at ",
                       options_.address, ", found ",
                       peer_hello.role == "task"
                           ? to_string(task_name{peer_hello.job, peer_hello.task})
                           : peer_hello.role);
    } else {
      std::lock_guard guard{mutex_};
      peer_name_ = peer_hello.role == "task" ? to_string(task_name{peer_hello.job, peer_hello.task})
                                             : concat("client ", peer_hello.incarnation);
      if (const auto* proven = stream_->names(); proven && peer_hello.role != "task")
        peer_name_ += concat(" (", format_names(*proven), ')');
    }
    if (const auto* proven = stream_->names())
      TROUPE_TRY(check_claim(peer_hello, *proven, options_.self.cluster));
    if (!peer_hello.cluster.empty() && !options_.self.cluster.empty() &&
        peer_hello.cluster != options_.self.cluster)
      return failure(error_kind::failed_precondition, peer(), " belongs to the cluster '",
                     peer_hello.cluster, "', this process to '", options_.self.cluster, "'");
    if (options_.access_control && !options_.expected)
      TROUPE_TRY(admit(peer_hello));
    if (options_.incarnations && peer_hello.role == "task")
      TROUPE_TRY(options_.incarnations->register_task(peer(), peer_hello.incarnation,
                                                      options_.expected.has_value()));
    if (options_.same_host_reads && process_memory_reader::within_machine(stream_->socket()))
      if (auto memory = process_memory_reader::find(stream_->socket(), peer_hello)) {
        connection_->is_memory_readable = true;
        link_.enable_memory_reads(
            [memory = *memory](auto target, uint64_t source) {
              return memory.read(target, source);
            },
            min_lent_payload);
      }
    {
      std::lock_guard guard{mutex_};
      if (is_ending_) // end(), on another thread, may read the members set below
        return lost_;
      connection_->peer = peer_name_;
      connection_->incarnation = peer_hello.incarnation;
      connection_->exchange = address();
      if (options_.server) // before end() can remove it
        options_.server->connections().add(connection_);
    }
    if (options_.server)
      log_link_opened(*options_.server, peer(), options_.expected.has_value());
    if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
      caf::anon_send(opener, peer_ready{peer_hello, connection_, !options_.expected});
    return {};
  }

  // Gets the account of a client, which counts this connection until its end.
  status admit(const hello& peer_hello) {
    const auto* proven = stream_->names();
    TROUPE_ASSIGN(auto account,
                  options_.access_control->admit(
                      peer_hello, proven ? *proven : std::vector<certificate_name>{}));
    if (!account)
      return {};
    const auto& rights = account->rights;
    if (rights.bytes > 0)
      link_.limit_input(rights.bytes);
    if (!rights.may_register && !rights.may_run) // no request that it may send has tensors
      link_.limit_input(max_bytes_without_rights);
    std::lock_guard guard{mutex_};
    peer_name_ = concat("client '", account->name, "' ", peer_hello.incarnation);
    if (is_ending_)
      --account->connections;
    else
      connection_->account = std::move(account);
    return is_ending_ ? lost_ : status{};
  }

  void count_answer(uint64_t bytes) {
    if (bytes > encode_options{}.inline_tensor) // it is sent as a payload beside the message
      answer_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    connection_->open_inspections.fetch_sub(1, std::memory_order_relaxed);
  }

  status check_permission(const message& request) {
    if (std::holds_alternative<inspect_request>(request) ||
        std::holds_alternative<state_list_request>(request)) {
      if (connection_->open_inspections.fetch_add(1, std::memory_order_relaxed) >= max_inspections)
        return failure(error_kind::resource_exhausted, peer(), " has ", max_inspections,
                       " unanswered requests, which is the limit");
      auto unread = link_.queued_output().payloads;
      if (unread == 0)
        answer_bytes_.store(0, std::memory_order_relaxed);
      if (std::min(unread, answer_bytes_.load(std::memory_order_relaxed)) > max_unread_answers)
        return failure(error_kind::resource_exhausted, peer(), " has not read ", max_unread_answers,
                       " bytes of answers yet");
    }
    if (const auto* proven = stream_->names())
      TROUPE_TRY(check_cluster_message(*proven, request, options_.self.cluster));
    if (connection_->account)
      TROUPE_TRY(check_request_rights(*connection_->account, request,
                                      {options_.self.job, options_.self.task}));
    return {};
  }

  std::string peer() const {
    std::lock_guard guard{mutex_};
    return peer_name_;
  }

  void dispatch(message&& received) {
    if (auto permission = check_permission(received); !permission) {
      if (auto answer = refusal_reply(received, std::move(permission)))
        send(*answer);
      return;
    }
    if (options_.server && options_.server->serve(received, connection_, as_actor(), unit_)) {
      // It belonged to a running step.
    } else if (dispatch_answer(received, unit_, [&](uint64_t request, auto answer_request) {
                 settle(request, answer_request);
               })) {
      // It has answered a pending request.
    } else if (std::holds_alternative<goodbye>(received)) {
      end(failure(error_kind::unavailable, "it has shut down"), true);
    } else if (is_for_membership(received)) {
      if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
        caf::anon_send(opener, incoming{std::move(received), as_actor(), connection_});
    } else if (options_.session_handler && is_for_host(received)) {
      options_.session_handler->serve({std::move(received), as_actor(), connection_});
    } else if (options_.owner) {
      caf::anon_send(options_.owner, incoming{std::move(received), as_actor(), connection_});
    }
  }

  template <class Answer>
  void settle(uint64_t request, Answer answer_request) {
    pending_request requester;
    {
      std::lock_guard guard{mutex_};
      auto position = pending_.find(request);
      if (position == pending_.end())
        return;
      requester = std::move(position->second);
      pending_.erase(position);
    }
    answer_request(requester);
  }

  // Answers or fails the receiver of a message that cannot be sent, which would wait otherwise.
  void cannot_send(const message& unsent, status why) {
    if (is_closed()) {
      std::lock_guard guard{mutex_};
      why = lost_;
    }
    TROUPE_REACHED("a message cannot be sent");
    if (auto* push = std::get_if<tensor_push>(&unsent)) {
      if (options_.server)
        options_.server->send_failed(push->step, address(),
                                     std::move(why).with_context(concat("sending to ", peer())));
    } else if (auto* step_answer = std::get_if<step_done>(&unsent);
               step_answer && step_answer->outcome) {
      send(step_done{step_answer->request, std::move(why), {}, {}, step_answer->is_revocable});
    } else if (auto* session_answer = std::get_if<session_reply>(&unsent);
               session_answer && session_answer->outcome) {
      // The session's notifications go with the next answer that is sent, which is this one.
      send(session_reply{.request = session_answer->request,
                         .outcome = std::move(why),
                         .is_draining = session_answer->is_draining,
                         .warnings = session_answer->warnings,
                         .state_peers = session_answer->state_peers,
                         .losses = session_answer->losses,
                         .initializations = session_answer->initializations});
    } else if (auto* session_message = std::get_if<session_request>(&unsent)) {
      session_reply refused{session_message->request, std::move(why)};
      std::unique_lock guard{mutex_};
      auto owner = options_.owner;
      guard.unlock();
      caf::anon_send(owner, incoming{std::move(refused), as_actor(), connection_});
    } else if (!is_closed() && why.kind() == error_kind::resource_exhausted) {
      end(std::move(why)); // the peer would wait for the message forever
    }
  }

  std::unique_ptr<byte_stream> stream_;
  exchange_options options_;
  std::shared_ptr<io_loop> loop_;
  mutable std::mutex mutex_; // guards the members down to lost_, and the release of stream_
  std::string peer_name_;
  const connection_ptr connection_ = std::make_shared<peer_connection>();
  uint64_t next_request_ = 1;
  std::map<uint64_t, pending_request> pending_;
  bool is_ending_ = false, is_closed_ = false;  // end() has begun; it answers requests with lost_
  bool is_in_loop_ = false, has_ended_ = false; // start() and end() are over; the later one removes
  status lost_;
  // Bytes of the answers to inspections since there last were no unsent payloads:
  std::atomic<uint64_t> answer_bytes_{0};
  const std::shared_ptr<lending_token> memory_token_;
  inline_unit* unit_ = nullptr; // of the loop's thread, while it reads
  troupe::link link_;
  socket_writer socket_writer_;
};

} // namespace

caf::actor spawn_exchange(caf::actor_system& system, std::unique_ptr<byte_stream> stream,
                          exchange_options options) {
  auto [handle, actor] =
      spawn_inline<exchange_actor>(system, std::move(stream), std::move(options));
  actor->start();
  return std::move(handle);
}

caf::actor spawn_exchange(caf::actor_system& system, int socket, exchange_options options) {
  if (!options.loop)
    options.loop = io_loop::of(system);
  return spawn_exchange(system, make_socket_stream(socket), std::move(options));
}

} // namespace troupe
