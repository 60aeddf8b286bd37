// Options as users set them, for which optimized builds must not warn (scripts/strict-consumer).
#include <troupe/troupe.hpp>

#include <iostream>

using namespace troupe;

int main() try {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto w = g.variable(1.0f, "w");
  auto loss = mean(square(w * x));
  auto* train = gradient_descent{0.1f}.minimize(loss);

  auto plain = session::local();
  auto named = session::local({.threads = {.intra_op = 1},
                               .container = "a name that is too long to be kept in the string",
                               .timeout = std::chrono::seconds{5}});
  auto retried =
      session::local({.recovery = {.max_retries = 3, .on_event = [](const recovery_event& event) {
                                     std::cout << event.text << '\n';
                                   }}});
  auto remote = session::connect("cluster.json", {.cluster = {.tls = {.certificate = "client.pem",
                                                                      .key = "client.key",
                                                                      .authority = "ca.pem"}}});
  training_run run{g,
                   {.feeds = {x}, .loss = loss, .train = {train}},
                   {.batch =
                        [](int64_t) {
                          return std::vector{tensor::vector<float>({1, 2})};
                        },
                    .checkpoints = "a folder whose name does not fit into the string itself",
                    .checkpoint_options = {.keep_newest = 3},
                    .last_step = 10}};
  run.run(plain);
  saver saving{g, "a folder whose name does not fit into the string itself", {.keep_best = 1}};
  auto serving = server::start("cluster.json", {.job = "worker", .http = "127.0.0.1:0"});
  replicas several{[](graph_builder& in, int) {
                     auto y = in.placeholder(dtype::f32, {-1}, "y");
                     return replica_step{.feeds = {y}, .loss = mean(square(y))};
                   },
                   {.workers = 2, .checkpoints = "checkpoints"}};
} catch (const error& e) {
  std::cerr << e.what() << '\n';
}
