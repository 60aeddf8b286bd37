// The smallest program outside Troupe's tree that consists of CAF actors: find_package(troupe
// COMPONENTS caf) also finds CAF.
#include <troupe/api/caf.hpp>
#include <troupe/troupe.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

#include <iostream>

int main() {
  troupe::graph_builder g;
  auto x = g.placeholder(troupe::dtype::f32, {-1}, "x");
  auto deadline = troupe::step_clock::now() + std::chrono::seconds{30};
  troupe::step_signature signature{.feeds = {x}, .fetches = {x * 2 + 1}, .targets = {}};
  auto request = troupe::prepare_request::make(g, signature, deadline);
  if (!request) {
    std::cout << request.status() << '\n';
    return 1;
  }

  caf::actor_system_config config;
  caf::actor_system system{config};
  auto session = troupe::spawn_session(system);
  caf::scoped_actor self{system};
  int exit_code = 1;
  auto failed = [](const caf::error& cause) { std::cout << troupe::from_caf(cause) << '\n'; };
  self->request(session, std::chrono::seconds{30}, *std::move(request))
      .receive(
          [&](const std::shared_ptr<troupe::prepared_step>& step) {
            self->request(
                    session, std::chrono::seconds{30},
                    troupe::step_request{step, {troupe::tensor::vector<float>({1, 2})}, deadline})
                .receive(
                    [&](const troupe::step_outcome& answer) {
                      std::cout << "by an actor: ";
                      if (answer.outcome)
                        std::cout << answer.fetches[0] << '\n';
                      else
                        std::cout << answer.outcome << '\n';
                      exit_code = answer.outcome ? 0 : 1;
                    },
                    failed);
          },
          failed);
  self->send_exit(session, caf::exit_reason::user_shutdown);
  return exit_code;
}
