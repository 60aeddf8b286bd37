// The host of a task: it has threads of its own, and sessions on the task's cluster.
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/hosting/session_host.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <mutex>
#include <thread>

namespace troupe {
namespace {

// What a session knows of its cluster is what the task knows.
class view_source final : public address_source {
public:
  explicit view_source(std::shared_ptr<cluster_view> of) : of_(std::move(of)) {}
  result<task_addresses> read() override { return of_->now(); }
  std::chrono::milliseconds read_again() const override { return std::chrono::milliseconds{500}; }
  std::string name() const override { return "the task that hosts the session"; }

private:
  const std::shared_ptr<cluster_view> of_;
};

// With threads of its own: masters do not wait behind kernels.
class threaded_host final : public session_host {
public:
  explicit threaded_host(hosting_options options)
      : options_(std::make_shared<const hosting_options>(std::move(options))) {}
  ~threaded_host() override { close(); }

  void serve(incoming what) override {
    std::lock_guard guard{mutex_};
    if (closed_)
      return;
    if (auto there = guarded("starting to host sessions", [&] { return start(); }); !there) {
      const auto* asked = std::get_if<session_request>(&what.content);
      auto task = to_string(options_->server->self());
      session_reply no{.request = asked ? asked->request : 0,
                       .outcome = std::move(there).on_task(task).within(task),
                       .leaving = options_->server->draining(),
                       .not_begun = true};
      return caf::anon_send(what.from, outgoing{std::move(no)});
    }
    caf::anon_send(host_, std::move(what));
  }

  size_t in_flight() const override { return in_flight_->load(); }

  void close() override {
    std::unique_ptr<engine> last;
    {
      std::lock_guard guard{mutex_};
      closed_ = true;
      if (host_)
        caf::anon_send_exit(host_, caf::exit_reason::user_shutdown);
      host_ = nullptr;
      last = std::move(threads_);
    }
  }

private:
  struct engine {
    explicit engine(const connection_trust& trust)
        : ways(std::make_shared<membership_ways>(usual_ways(io_loop::make(), trust))) {
      ways->read = [](caf::actor_system&, const std::shared_ptr<address_source>& source,
                      const caf::actor& to) { caf::anon_send(to, source_read{source->read()}); };
    }
    system_config config{2, true};
    caf::actor_system system{config};
    std::shared_ptr<membership_ways> ways; // goes first: its thread runs what is in the system
  };

  // A host that an exception has ended is replaced. Descriptors or threads may be out: the next
  // request tries again.
  status start() {
    if (threads_ && host_ && lives_->load())
      return {};
    status outcome;
    // A thread that makes an actor system, or spawns something in it, keeps a part of it, which its
    // end waits for: this one serves others.
    std::thread{[&] {
      outcome = guarded("starting to host sessions", [&] {
        if (!threads_)
          threads_ = std::make_unique<engine>(options_->trust);
        host_ = spawn_session_host(threads_->system, options_, maker(), in_flight_);
        lives_ = std::make_shared<std::atomic<bool>>(true);
        host_->attach_functor([lives = lives_](const caf::error&) { *lives = false; });
      });
    }}.join();
    return outcome;
  }

  // A session on the cluster, as the task knows it.
  session_maker maker() const {
    return [options = options_, weak = std::weak_ptr<const membership_ways>{threads_->ways}](
               caf::actor_system& system, const client_options& how) -> result<caf::actor> {
      auto ways = weak.lock();
      if (!ways)
        return failure(error_kind::unavailable, options->server->self(), " shuts down");
      cluster_access cluster;
      cluster.known = options->view->now();
      if (options->may_change)
        cluster.source = std::make_shared<view_source>(options->view);
      return spawn_cluster_session(system, cluster, how, nullptr, ways.get());
    };
  }

  const std::shared_ptr<const hosting_options> options_;
  const std::shared_ptr<std::atomic<size_t>> in_flight_ = std::make_shared<std::atomic<size_t>>(0);
  std::mutex mutex_;
  bool closed_ = false;
  std::unique_ptr<engine> threads_;
  caf::actor host_;
  std::shared_ptr<std::atomic<bool>> lives_; // the host
};

} // namespace

std::shared_ptr<session_host> session_host::make(hosting_options options) {
  return std::make_shared<threaded_host>(std::move(options));
}

} // namespace troupe
