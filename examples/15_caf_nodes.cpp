// CAF nodes of a program share a session: one node publishes it, others use it like a local one.
// The variable is on the node of the session.
#include <troupe/api/caf.hpp>
#include <troupe/troupe.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/io/all.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <iostream>

#include <sys/wait.h>
#include <unistd.h>

using namespace troupe;

constexpr std::chrono::seconds request_timeout{10};

struct config : caf::actor_system_config {
  config() { load<caf::io::middleman>(); }
};

/// Sends a request to a session, and waits for the answer.
template <class Answer, class Question>
Answer ask(caf::scoped_actor& self, const caf::actor& session, Question question) {
  Answer reply{};
  self->request(session, request_timeout, std::move(question))
      .receive([&](Answer& answer) { reply = std::move(answer); },
               [](const caf::error& cause) { throw error{from_caf(cause)}; });
  return reply;
}

void count_at(uint16_t port) {
  config options;
  caf::actor_system system{options};
  auto published = system.middleman().remote_actor("127.0.0.1", port);
  if (!published)
    throw error{from_caf(published.error())};
  caf::scoped_actor self{system};
  auto session = use_session(system, *published);

  graph_builder g;
  auto n = g.variable(0, "n");
  auto run = [&](step_signature signature) {
    auto deadline = step_clock::now() + request_timeout;
    auto request = prepare_request::make(g, signature, deadline);
    if (!request)
      throw error{request.status()};
    auto step = ask<std::shared_ptr<prepared_step>>(self, session, *std::move(request));
    return ask<step_outcome>(self, session, step_request{step, {}, deadline});
  };
  run({.feeds = {}, .fetches = {}, .targets = {g.initializer()}});
  auto outcome = run({.feeds = {}, .fetches = {assign_add(n, 42)}, .targets = {}});
  std::cout << "another node counts: " << outcome.fetches.at(0) << '\n';
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
}

int main() {
  // A second process, which reads the port from a pipe.
  int ports[2];
  if (::pipe(ports) != 0)
    return 1;
  if (::fork() == 0) {
    uint16_t port = 0;
    if (::read(ports[0], &port, sizeof port) == sizeof port)
      count_at(port);
    return 0;
  }
  config options;
  caf::actor_system system{options};
  auto session = spawn_session(system);
  auto published = publish_session(system, session);
  auto port = system.middleman().publish(published, 0, "127.0.0.1");
  if (!port || ::write(ports[1], &*port, sizeof *port) != sizeof *port)
    return 1;
  int exit_status = 0;
  ::wait(&exit_status);
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown); // ends the published actor, too
  return exit_status;
}

// Prints:
// another node counts: i32[] {42}
