// The session host of a task: it has threads of its own, and its sessions use the task's cluster.
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

// The source of addresses of hosted sessions: the cluster as the task knows it.
class view_source final : public address_source {
public:
  explicit view_source(std::shared_ptr<cluster_view> view) : view_(std::move(view)) {}
  result<task_addresses> read() override { return view_->now(); }
  std::chrono::milliseconds poll_interval() const override {
    return std::chrono::milliseconds{500};
  }
  std::string name() const override { return "the task that hosts the session"; }

private:
  const std::shared_ptr<cluster_view> view_;
};

// Has threads of its own, so that masters do not wait for kernels.
class threaded_host final : public session_host {
public:
  explicit threaded_host(hosting_options options)
      : options_(std::make_shared<const hosting_options>(std::move(options))) {}
  ~threaded_host() override { close(); }

  void serve(incoming request) override {
    std::lock_guard guard{mutex_};
    if (closed_)
      return;
    if (auto started = guarded("starting to host sessions", [&] { return start(); }); !started) {
      const auto* content = std::get_if<session_request>(&request.content);
      auto task = to_string(options_->server->self());
      session_reply refused{.request = content ? content->request : 0,
                            .outcome = std::move(started).with_task(task).with_context(task),
                            .is_draining = options_->server->draining(),
                            .not_started = true};
      return caf::anon_send(request.from, outgoing{std::move(refused)});
    }
    caf::anon_send(host_, std::move(request));
  }

  size_t in_flight() const override { return in_flight_->load(); }

  void close() override {
    std::unique_ptr<engine> last; // destroyed after the lock is released
    {
      std::lock_guard guard{mutex_};
      closed_ = true;
      if (host_)
        caf::anon_send_exit(host_, caf::exit_reason::user_shutdown);
      host_ = nullptr;
      last = std::move(engine_);
    }
  }

private:
  // The actor system of the host, and the transport of its sessions.
  struct engine {
    explicit engine(const connection_trust& trust)
        : transport(std::make_shared<membership_transport>(
              socket_transport(io_loop::of(system), trust))) {
      transport->read = [](caf::actor_system&, const std::shared_ptr<address_source>& source,
                           const caf::actor& reply) {
        caf::anon_send(reply, address_update{source->read()});
      };
    }
    system_config config{2, true};
    caf::actor_system system{config};
    // Ends first: its thread runs actors of the system.
    std::shared_ptr<membership_transport> transport;
  };

  // Starts the threads and the host, or a new host in the place of one that an exception has ended.
  // After a failure, for lack of descriptors or threads, the next request tries again.
  status start() {
    if (engine_ && host_ && alive_->load())
      return {};
    status outcome;
    // A thread that creates an actor system, or spawns in it, holds a part of the system until the
    // thread ends, and the destructor of the system waits for that. The calling thread lives
    // longer, so a thread of its own does this.
    std::thread{[&] {
      outcome = guarded("starting to host sessions", [&] {
        if (!engine_)
          engine_ = std::make_unique<engine>(options_->trust);
        host_ = spawn_session_host(engine_->system, options_, make_factory(), in_flight_);
        alive_ = std::make_shared<std::atomic<bool>>(true);
        host_->attach_functor([alive = alive_](const caf::error&) { *alive = false; });
      });
    }}.join();
    return outcome;
  }

  // Makes sessions on the cluster as the task knows it.
  session_factory make_factory() const {
    return [options = options_,
            weak_transport = std::weak_ptr<const membership_transport>{engine_->transport}](
               caf::actor_system& system,
               const client_options& session_options) -> result<caf::actor> {
      auto transport = weak_transport.lock();
      if (!transport)
        return failure(error_kind::unavailable, options->server->self(), " shuts down");
      cluster_access cluster;
      cluster.known = options->view->now();
      if (options->may_change)
        cluster.source = std::make_shared<view_source>(options->view);
      return spawn_cluster_session(system, cluster, session_options, nullptr, transport.get());
    };
  }

  const std::shared_ptr<const hosting_options> options_;
  const std::shared_ptr<std::atomic<size_t>> in_flight_ = std::make_shared<std::atomic<size_t>>(0);
  std::mutex mutex_;
  bool closed_ = false;
  std::unique_ptr<engine> engine_;
  caf::actor host_;
  std::shared_ptr<std::atomic<bool>> alive_; // whether the host has not ended
};

} // namespace

std::shared_ptr<session_host> session_host::make(hosting_options options) {
  return std::make_shared<threaded_host>(std::move(options));
}

} // namespace troupe
