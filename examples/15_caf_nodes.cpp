// Nodes of a program that is made of CAF actors share a session: one publishes it, others use it as
// if it were their own. The variable lives where the session does.
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

constexpr std::chrono::seconds patience{10};

struct config : caf::actor_system_config {
  config() { load<caf::io::middleman>(); }
};

/// Asks a session, and waits for its answer.
template <class Answer, class Question>
Answer ask(caf::scoped_actor& self, const caf::actor& session, Question what) {
  Answer got{};
  self->request(session, patience, std::move(what))
      .receive([&](Answer& answer) { got = std::move(answer); },
               [](const caf::error& why) { throw error{from_caf(why)}; });
  return got;
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
  auto run = [&](step_signature what) {
    auto until = step_clock::now() + patience;
    auto request = prepare_request::make(g, what, until);
    if (!request)
      throw error{request.status()};
    auto step = ask<std::shared_ptr<prepared_step>>(self, session, *std::move(request));
    return ask<step_outcome>(self, session, step_request{step, {}, until});
  };
  run({.feeds = {}, .fetches = {}, .targets = {g.initializer()}});
  auto done = run({.feeds = {}, .fetches = {assign_add(n, 42)}, .targets = {}});
  std::cout << "another node counts: " << done.fetches.at(0) << '\n';
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
}

int main() {
  // Another process, which is told the port.
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
  int how = 0;
  ::wait(&how);
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown); // and what is published
  return how;
}

// Prints:
// another node counts: i32[] {42}
