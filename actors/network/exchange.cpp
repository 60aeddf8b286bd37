#include "troupe/actors/network/exchange.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/inline_unit.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/execution/outlet.hpp"
#include "troupe/actors/network/access_control.hpp"
#include "troupe/actors/network/link_log.hpp"
#include "troupe/actors/network/near_memory.hpp"
#include "troupe/actors/network/pending_request.hpp"
#include "troupe/actors/network/question_to_wire.hpp"
#include "troupe/actors/network/run_to_wire.hpp"
#include "troupe/actors/network/session_request_handler.hpp"
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

// How often it looks whether its peer is silent.
constexpr int ticks_per_timeout = 6;
// A thread that reads goes on to other sockets after so many portions.
constexpr int most_reads = 8;
constexpr size_t read_beside = 4096;
// Smaller payloads come as fast through the socket.
constexpr uint64_t least_borrowed = 256 * 1024;
// What is read out of a peer's memory before others get their turn.
constexpr size_t most_borrowed = 2 * 1024 * 1024;
// What is larger would not stay in the cache of the loop's memory.
constexpr uint64_t max_cached = uint64_t{256} << 20;
// Questions of a peer of what there is to see, which may be much; and bytes of answers to them that
// it has not taken yet, until it is answered no more of them.
constexpr size_t most_questions = 64;
constexpr uint64_t most_unread = 64 * 1024 * 1024;
// Payloads of a client, as long as all that could bring some is refused when it has come.
constexpr uint64_t most_without_rights = 1024 * 1024;

class exchange_actor final : public inline_actor, public socket_handler {
public:
  exchange_actor(caf::actor_config& config, std::unique_ptr<byte_stream> stream,
                 exchange_options options)
      : inline_actor(config), stream_(std::move(stream)), options_(std::move(options)),
        loop_(options_.loop),
        peer_(options_.expected ? to_string(*options_.expected) : "an unknown peer"),
        lends_(lend_memory()), link_({.self = options_.self,
                                      .timeout = options_.peer_timeout,
                                      .memory = &loop_->memory(),
                                      .max_from_memory = max_cached,
                                      .lends = lends_},
                                     callbacks()),
        outlet_(*stream_, *loop_, link_, *this, &from_->sent) {}

  const char* name() const override { return "troupe.exchange"; }

  void start() {
    register_at_system(); // which waits until the loop is done with this
    // Whoever this belongs to ends it, even when it lies idle with a lost peer.
    for (const auto& one : watched())
      one->get()->attach(caf::default_attachable::make_monitor(one->get()->address(), address()));
    auto id = stream_->id(); // soon it may have ended
    auto holds_input = stream_->holds_input();
    auto watched = loop_->add(id, *this, options_.peer_timeout / ticks_per_timeout,
                              std::make_shared<caf::actor>(as_actor()));
    {
      std::lock_guard guard{mutex_};
      is_known_ = true;
      if (is_over_) // who it belongs to had ended already
        return loop_->remove(id);
    }
    if (!watched)
      return end(std::move(watched));
    if (holds_input) // of which the socket does not tell
      loop_->call_soon(id);
    tick(home_system().clock().now());
  }

  // -- on the loop's thread

  size_t ready(bool readable, bool writable, std::span<std::byte> scratch) override {
    size_t moved = 0;
    ends_on_exception([&] {
      moved = move(readable, writable, scratch);
      if (!gone() && link_.reading())
        moved += borrow();
    });
    unit_ = nullptr;
    return moved;
  }

  void tick(std::chrono::steady_clock::time_point now) override {
    if (gone())
      return;
    ends_on_exception([&] {
      if (auto alive = link_.tick(now); !alive)
        return end(std::move(alive));
      outlet_.write_some();
    });
  }

  void removed() override {
    outlet_.close();
    link_.abandon(failure(error_kind::unavailable, "the connection has ended"));
    stream_->drop_input(); // what was not read would make the other end lose what was written
    auto watching = watched();
    {
      std::lock_guard guard{mutex_}; // cannot_send() reads the owner on other threads
      stream_.reset();
      options_.owner = nullptr;
    }
    for (const auto& one : watching)
      one->get()->detach(
          caf::default_attachable::observe_token{address(), caf::default_attachable::monitor});
    cleanup(caf::exit_reason::user_shutdown, nullptr);
    unregister_from_system();
  }

protected:
  bool receive(caf::mailbox_element& message, caf::execution_unit*) override {
    bool known = true;
    if (!ends_on_exception([&] { known = handle(message); }) && message.mid.is_request()) {
      std::lock_guard guard{mutex_};
      pending_request{message.sender, message.mid}.answer(to_caf(lost_));
    }
    return known;
  }

private:
  // Says in our hello where a process of this machine finds what we lend.
  std::shared_ptr<lending_token> lend_memory() {
    if (!options_.near_memory || !near_memory::within_machine(stream_->socket()))
      return nullptr;
    auto made = std::make_shared<lending_token>();
    options_.self.process = static_cast<uint32_t>(::getpid());
    options_.self.token_at = reinterpret_cast<uint64_t>(made->words.data());
    for (size_t i = 0; i < made->words.size(); ++i)
      made->words[i] = options_.self.token[i] = random_id();
    return made;
  }

  link_callbacks callbacks() {
    link_callbacks made{.on_hello = [this](const hello& who) { return meet(who); },
                        .on_message = [this](message what) { dispatch(std::move(what)); }};
    if (auto* server = options_.server.get()) {
      // A client's tensors are its feeds: others take no room among those of tasks.
      made.wanted = [=, this](step_id step) {
        return from_->account ? demand::never : server->expect(step, address());
      };
      made.on_lost = [=](step_id step, status why) {
        server->steps().abort(step, std::move(why), nullptr);
      };
      made.on_announce = [=, this](step_id step) { server->steps().watch(step, address()); };
    }
    return made;
  }

  caf::actor as_actor() { return caf::actor_cast<caf::actor>(static_cast<abstract_actor*>(this)); }

  // Out of memory, mostly. A connection that has lost something is of no use.
  template <class Act>
  bool ends_on_exception(Act act) noexcept {
    try {
      act();
      return true;
    } catch (const std::exception& thrown) {
      end(failure(error_kind::resource_exhausted, thrown.what()));
      return false;
    }
  }

  bool handle(caf::mailbox_element& message) {
    pending_request from{message.sender, message.mid};
    if (auto* what = content_if<outgoing>(message))
      send(what->content);
    else if (auto* wonders = content_if<link_look>(message))
      *wonders->to = look();
    else if (auto* run = content_if<run_request>(message))
      ask(to_wire(*run, home_system().clock().now()), from);
    else if (auto* news = content_if<step_news>(message))
      look_at(*news);
    else if (auto* unused = content_if<forget_program>(message))
      send(deregister_graph{unused->handle});
    else if (auto asked = question_to_wire(message))
      ask(*std::move(asked), from);
    else if (content_if<caf::exit_msg>(message) || content_if<caf::down_msg>(message))
      say_goodbye();
    else
      return false;
    return true;
  }

  size_t move(bool readable, bool writable, std::span<std::byte> scratch) {
    auto moved = writable ? outlet_.flush() : 0;
    inline_unit unit{home_system()};
    unit_ = &unit;
    readable = readable || stream_->holds_input();
    for (int i = 0; readable && i < most_reads && !gone(); ++i) {
      auto gap = link_.gap();
      // Behind a chunk, little more than the next header: the rest can then go to its place.
      auto beside = scratch.first(gap.empty() ? scratch.size() : read_beside);
      std::array<iovec, 2> places{iovec{gap.data(), gap.size()},
                                  iovec{beside.data(), beside.size()}};
      auto came = stream_->read(places);
      if (came < 0 && errno == EINTR)
        continue;
      if (came < 0 && errno == EAGAIN)
        break;
      if (came <= 0) {
        end(came == 0 ? failure(error_kind::unavailable, "the connection was closed")
                      : stream_->why_failed(errno));
        break;
      }
      auto size = static_cast<size_t>(came);
      moved += size;
      from_->hear(size);
      if (auto taken = take(size, gap.size(), beside); !taken)
        end(std::move(taken));
      // Most of what comes is less: the socket need not be asked whether there is more.
      if (size < gap.size() + beside.size())
        break;
    }
    if (!gone() && stream_->holds_input())
      loop_->call_again(stream_->id());
    return moved;
  }

  // Out of the peer's memory, and no more than others can wait for.
  size_t borrow() {
    inline_unit unit{home_system()};
    unit_ = &unit;
    auto came = link_.read_lent(most_borrowed);
    if (came && link_.reading())
      loop_->call_again(stream_->id());
    outlet_.write_some();
    unit.run();
    if (!came) {
      end(came.status());
      return 0;
    }
    from_->received.fetch_add(*came, std::memory_order_relaxed); // a frozen peer's, too
    return *came;
  }

  std::vector<caf::strong_actor_ptr> watched() const {
    std::vector<caf::strong_actor_ptr> found;
    if (options_.owner)
      found.push_back(caf::actor_cast<caf::strong_actor_ptr>(options_.owner));
    if (auto opener = caf::actor_cast<caf::strong_actor_ptr>(options_.opener))
      found.push_back(std::move(opener));
    return found;
  }

  bool gone() const {
    std::lock_guard guard{mutex_};
    return gone_;
  }

  status take(size_t size, size_t gap, std::span<const std::byte> scratch) {
    auto straight = std::min(size, gap);
    status outcome;
    if (straight > 0)
      outcome = link_.filled(straight);
    if (outcome.ok() && size > straight)
      outcome = link_.receive(scratch.first(size - straight));
    outlet_.write_some();
    unit_->run();
    return outcome;
  }

  void send(const message& what) {
    if (const auto* seen = std::get_if<inspect_reply>(&what))
      count_answer(static_cast<uint64_t>(seen->tree.bytes()));
    else if (std::holds_alternative<state_list_reply>(what))
      count_answer(0); // which lies in the message
    auto sent = link_.send(what);
    if (sent.ok())
      outlet_.write_some();
    else
      cannot_send(what, std::move(sent));
  }

  link_look::numbers look() const {
    auto waiting = link_.waiting();
    auto pending = link_.pending_bytes();
    auto drained = link_.drained();
    std::lock_guard guard{mutex_};
    drained = gone_ || (drained && !(stream_ && stream_->holds_output()));
    return {waiting.messages, waiting.payloads, pending, asked_.size(), drained};
  }

  // A step has begun here, failed or ended: what is announced of it may be wanted now, or no more.
  void look_at(const step_news& what) {
    status outcome;
    if (what.failed)
      outcome = link_.withdraw(what.step);
    if (outcome)
      outcome = link_.review(what.step);
    if (!outcome)
      end(std::move(outcome));
    outlet_.write_some();
  }

  // Sends a question; its answer, or the end of the connection, answers the one that asks.
  void ask(message what, const pending_request& from) {
    uint64_t request = 0;
    {
      std::lock_guard guard{mutex_};
      if (gone_)
        return from.answer(to_caf(lost_));
      request = next_request_++;
      asked_.emplace(request, from); // before it leaves: the answer may be quick
    }
    std::visit(
        [&](auto& one) {
          if constexpr (requires { one.request; })
            one.request = request;
        },
        what);
    if (auto sent = link_.send(what); !sent)
      return settle(request, [&](const pending_request& one) {
        one.answer(to_caf(std::move(sent).within(peer())));
      });
    outlet_.write_some();
  }

  void end(status why, bool orderly = false) {
    peer_gone news{{}, why, from_, !options_.expected, orderly};
    {
      std::lock_guard guard{mutex_};
      if (std::exchange(ending_, true))
        return;
      lost_ = failure(error_kind::unavailable, peer_, ": ", why.message());
      news.peer = peer_;
      if (from_->account)
        --from_->account->connections;
    }
    if (options_.server && options_.server->log())
      log_link_lost(*options_.server, *from_, news.peer, options_.expected.has_value(), why,
                    orderly || why.kind() == error_kind::cancelled);
    else if (options_.on_warning && why.kind() != error_kind::unavailable &&
             why.kind() != error_kind::cancelled)
      options_.on_warning(concat("the connection from ", news.peer, " ends: ", why.message()));
    // First: who is told by an answer that the peer is gone asks the membership for another.
    if (options_.server)
      options_.server->lose(*from_, why);
    if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
      caf::anon_send(opener, news);
    std::unique_lock lock{mutex_};
    gone_ = true;
    auto asked = std::exchange(asked_, {});
    lock.unlock();
    for (auto& [request, from] : asked)
      from.answer(to_caf(lost_));
    // A refusal may still have to leave; who asks later is told why the peer is gone (003).
    outlet_.finish();
    lock.lock();
    is_over_ = true;
    if (is_known_)
      loop_->remove(stream_->id());
  }

  void say_goodbye() {
    if (!gone() && link_.send(goodbye{"it shuts down"}).ok())
      outlet_.write_some();
    end(failure(error_kind::cancelled, "this process shuts down"));
  }

  // The peer has introduced itself.
  status meet(const hello& who) {
    if (options_.expected) {
      if (who.role != "task" || task_name{who.job, who.task} != *options_.expected)
        return failure(error_kind::failed_precondition, "expected ", *options_.expected, " at ",
                       options_.address, ", found ",
                       who.role == "task" ? to_string(task_name{who.job, who.task}) : who.role);
    } else {
      std::lock_guard guard{mutex_};
      peer_ = who.role == "task" ? to_string(task_name{who.job, who.task})
                                 : concat("client ", who.incarnation);
      if (const auto* proven = stream_->names(); proven && who.role != "task")
        peer_ += concat(" (", list_of(*proven), ')');
    }
    if (const auto* proven = stream_->names())
      TROUPE_TRY(check_claim(who, *proven, options_.self.cluster));
    if (!who.cluster.empty() && !options_.self.cluster.empty() &&
        who.cluster != options_.self.cluster)
      return failure(error_kind::failed_precondition, peer(), " belongs to the cluster '",
                     who.cluster, "', this process to '", options_.self.cluster, "'");
    if (options_.access && !options_.expected)
      TROUPE_TRY(admit(who));
    if (options_.known && who.role == "task")
      TROUPE_TRY(options_.known->meet(peer(), who.incarnation, options_.expected.has_value()));
    if (options_.near_memory && near_memory::within_machine(stream_->socket()))
      if (auto there = near_memory::find(stream_->socket(), who)) {
        from_->near = true;
        link_.read_near([there = *there](auto to, uint64_t from) { return there.read(to, from); },
                        least_borrowed);
      }
    {
      std::lock_guard guard{mutex_};
      if (ending_) // whoever ends it, on another thread, reads what follows
        return lost_;
      from_->peer = peer_;
      from_->incarnation = who.incarnation;
      from_->exchange = address();
      if (options_.server) // before end() can have told it otherwise
        options_.server->connections().add(from_);
    }
    if (options_.server)
      log_link_opened(*options_.server, peer(), options_.expected.has_value());
    if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
      caf::anon_send(opener, peer_ready{who, from_, !options_.expected});
    return {};
  }

  // What it may do here, which its account counts until it goes.
  status admit(const hello& who) {
    const auto* proven = stream_->names();
    TROUPE_ASSIGN(auto account,
                  options_.access->admit(who, proven ? *proven : std::vector<certificate_name>{}));
    if (!account)
      return {};
    const auto& may = account->rights;
    if (may.bytes > 0)
      link_.limit_input(may.bytes);
    if (!may.registers && !may.runs) // nothing that it may send brings tensors
      link_.limit_input(most_without_rights);
    std::lock_guard guard{mutex_};
    peer_ = concat("client '", account->name, "' ", who.incarnation);
    if (ending_)
      --account->connections;
    else
      from_->account = std::move(account);
    return ending_ ? lost_ : status{};
  }

  void count_answer(uint64_t bytes) {
    if (bytes > encode_options{}.inline_tensor) // it travels beside its message
      told_.fetch_add(bytes, std::memory_order_relaxed);
    from_->questions.fetch_sub(1, std::memory_order_relaxed);
  }

  status allowed(const message& what) {
    if (std::holds_alternative<inspect_request>(what) ||
        std::holds_alternative<state_list_request>(what)) {
      if (from_->questions.fetch_add(1, std::memory_order_relaxed) >= most_questions)
        return failure(error_kind::resource_exhausted, peer(), " has asked ", most_questions,
                       " things that are not answered yet, as many as may be");
      auto unread = link_.waiting().payloads;
      if (unread == 0)
        told_.store(0, std::memory_order_relaxed);
      if (std::min(unread, told_.load(std::memory_order_relaxed)) > most_unread)
        return failure(error_kind::resource_exhausted, peer(), " has not read ", most_unread,
                       " bytes of answers yet");
    }
    if (const auto* proven = stream_->names())
      TROUPE_TRY(may_say(*proven, what, options_.self.cluster));
    if (from_->account)
      TROUPE_TRY(may_ask(*from_->account, what, {options_.self.job, options_.self.task}));
    return {};
  }

  std::string peer() const {
    std::lock_guard guard{mutex_};
    return peer_;
  }

  void dispatch(message&& what) {
    if (auto fine = allowed(what); !fine) {
      if (auto answer = answer_of_refused(what, std::move(fine)))
        send(*answer);
      return;
    }
    if (options_.server && options_.server->serve(what, from_, as_actor(), unit_)) {
      // It belonged to a running step.
    } else if (give_answer(what, unit_,
                           [&](uint64_t request, auto give) { settle(request, give); })) {
      // Somebody has waited for it.
    } else if (std::holds_alternative<goodbye>(what)) {
      end(failure(error_kind::unavailable, "it has shut down"), true);
    } else if (is_for_membership(what)) {
      if (auto opener = caf::actor_cast<caf::actor>(options_.opener))
        caf::anon_send(opener, incoming{std::move(what), as_actor(), from_});
    } else if (options_.host && is_for_host(what)) {
      options_.host->serve({std::move(what), as_actor(), from_});
    } else if (options_.owner) {
      caf::anon_send(options_.owner, incoming{std::move(what), as_actor(), from_});
    }
  }

  template <class Answer>
  void settle(uint64_t request, Answer give) {
    pending_request from;
    {
      std::lock_guard guard{mutex_};
      auto it = asked_.find(request);
      if (it == asked_.end())
        return;
      from = std::move(it->second);
      asked_.erase(it);
    }
    give(from);
  }

  // What cannot leave must not leave its receiver waiting.
  void cannot_send(const message& what, status why) {
    if (gone()) {
      std::lock_guard guard{mutex_};
      why = lost_;
    }
    TROUPE_REACHED("a message cannot be sent");
    if (auto* push = std::get_if<tensor_push>(&what)) {
      if (options_.server)
        options_.server->cannot_send(push->step, address(),
                                     std::move(why).within(concat("sending to ", peer())));
    } else if (auto* done = std::get_if<step_done>(&what); done && done->outcome) {
      send(step_done{done->request, std::move(why), {}, {}, done->holds});
    } else if (auto* told = std::get_if<session_reply>(&what); told && told->outcome) {
      // What the session has to tell goes with the next answer that leaves, which is this one.
      send(session_reply{.request = told->request,
                         .outcome = std::move(why),
                         .leaving = told->leaving,
                         .warnings = told->warnings,
                         .held = told->held,
                         .losses = told->losses,
                         .fills = told->fills});
    } else if (auto* asked = std::get_if<session_request>(&what)) {
      session_reply refused{asked->request, std::move(why)};
      std::unique_lock guard{mutex_};
      auto owner = options_.owner;
      guard.unlock();
      caf::anon_send(owner, incoming{std::move(refused), as_actor(), from_});
    } else if (!gone() && why.kind() == error_kind::resource_exhausted) {
      end(std::move(why)); // the peer waits for it, and would do so for ever
    }
  }

  std::unique_ptr<byte_stream> stream_;
  exchange_options options_;
  std::shared_ptr<io_loop> loop_;
  mutable std::mutex mutex_; // of what follows
  std::string peer_;
  const connection_ptr from_ = std::make_shared<peer_connection>();
  uint64_t next_request_ = 1;
  std::map<uint64_t, pending_request> asked_;
  bool ending_ = false, gone_ = false;
  bool is_known_ = false, is_over_ = false; // to the loop, which removes it once; end() is done
  status lost_;

  std::atomic<uint64_t> told_{0}; // of what there is to see, since all of it had left
  const std::shared_ptr<lending_token> lends_;
  inline_unit* unit_ = nullptr; // the loop's thread's, while it reads
  troupe::link link_;
  outlet outlet_;
};

} // namespace

caf::actor spawn_exchange(caf::actor_system& system, std::unique_ptr<byte_stream> stream,
                          exchange_options options) {
  auto [made, actor] = spawn_inline<exchange_actor>(system, std::move(stream), std::move(options));
  actor->start();
  return std::move(made);
}

caf::actor spawn_exchange(caf::actor_system& system, int socket, exchange_options options) {
  if (!options.loop)
    options.loop = io_loop::make();
  return spawn_exchange(system, make_socket_stream(socket), std::move(options));
}

} // namespace troupe
