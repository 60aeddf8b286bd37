// In a program that is made of actors already, a session is one more: spawn it in your own actor
// system and send it messages. Nothing blocks.
#include <troupe/api/caf.hpp>
#include <troupe/troupe.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>

#include <iostream>

using namespace troupe;
using prepared = std::shared_ptr<prepared_step>;

constexpr std::chrono::seconds patience{10};

/// Compiles a step, runs it once, and ends the session.
void square_of(caf::event_based_actor* self, const caf::actor& session, const graph& g, edge x,
               edge y) {
  auto until = step_clock::now() + patience;
  auto failed = [=](const caf::error& why) { std::cout << from_caf(why) << '\n'; };
  step_signature signature{.feeds = {x}, .fetches = {y}, .targets = {}};
  auto request = prepare_request::make(g, signature, until);
  if (!request) {
    std::cout << request.status() << '\n';
    return;
  }
  self->request(session, patience, *std::move(request))
      .then(
          [=](const prepared& step) {
            self->request(session, patience, step_request{step, {tensor::scalar(7)}, until})
                .then(
                    [=](const step_outcome& done) {
                      if (done.outcome)
                        std::cout << "the square of 7 is " << done.fetches[0] << '\n';
                      else
                        std::cout << done.outcome << '\n';
                      self->send_exit(session, caf::exit_reason::user_shutdown);
                    },
                    failed);
          },
          failed);
}

int main() {
  graph_builder g; // outlives the actors, which look at its edges
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  auto y = square(x);

  caf::actor_system_config config;
  caf::actor_system system{config};
  auto session = spawn_session(system);
  system.spawn(square_of, session, std::cref(g), x, y);
} // waits for all actors to end

// Prints:
// the square of 7 is i32[] {49}
