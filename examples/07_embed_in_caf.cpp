// A session as an actor in a program that consists of CAF actors: spawn it in your actor system and
// send it messages. Nothing blocks.
#include <troupe/api/caf.hpp>
#include <troupe/troupe.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>

#include <iostream>

using namespace troupe;
using prepared = std::shared_ptr<prepared_step>;

constexpr std::chrono::seconds request_timeout{10};

/// Compiles a step, runs it once, and ends the session.
void square_of(caf::event_based_actor* self, const caf::actor& session, const graph& g, edge x,
               edge y) {
  auto deadline = step_clock::now() + request_timeout;
  auto failed = [=](const caf::error& cause) { std::cout << from_caf(cause) << '\n'; };
  step_signature signature{.feeds = {x}, .fetches = {y}, .targets = {}};
  auto request = prepare_request::make(g, signature, deadline);
  if (!request) {
    std::cout << request.status() << '\n';
    return;
  }
  self->request(session, request_timeout, *std::move(request))
      .then(
          [=](const prepared& step) {
            self->request(session, request_timeout,
                          step_request{step, {tensor::scalar(7)}, deadline})
                .then(
                    [=](const step_outcome& answer) {
                      if (answer.outcome)
                        std::cout << "the square of 7 is " << answer.fetches[0] << '\n';
                      else
                        std::cout << answer.outcome << '\n';
                      self->send_exit(session, caf::exit_reason::user_shutdown);
                    },
                    failed);
          },
          failed);
}

int main() {
  graph_builder g; // must outlive the actors, which use its edges
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  auto y = square(x);

  caf::actor_system_config config;
  caf::actor_system system{config};
  auto session = spawn_session(system);
  system.spawn(square_of, session, std::cref(g), x, y);
} // waits for all actors to end

// Prints:
// the square of 7 is i32[] {49}
