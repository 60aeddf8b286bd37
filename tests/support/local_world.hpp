// A session with its own task in a deterministic actor system.
#pragma once
#include "tests/support/actor_world.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/actors/session/session.hpp"
#include "troupe/api/internal/library.hpp"

#include <stdexcept>

namespace troupe::test {

class local_world : public actor_world {
public:
  local_world() {
    client_options options;
    options.ops = &library();
    options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
    auto result = spawn_local_session(system(), options);
    if (!result)
      throw std::runtime_error{result.status().message()};
    session_ = *result;
  }
  ~local_world() { close(); }

  const caf::actor& session() const { return session_; }
  void close() {
    if (session_)
      caf::anon_send_exit(session_, caf::exit_reason::user_shutdown);
    session_ = nullptr;
    run();
  }

  result<std::shared_ptr<prepared_step>> prepare(const text_case& test_case, size_t run_index = 0) {
    TROUPE_ASSIGN(auto request,
                  prepare_request::make(*test_case.nodes,
                                        signature_of(test_case.text.runs.at(run_index)),
                                        now() + std::chrono::seconds{10}));
    auto answer = ask<std::shared_ptr<prepared_step>>(session_, std::move(request));
    run();
    return answer->value();
  }

  /// Begins a step through the session actor.
  awaited_answer<step_outcome> start(const std::shared_ptr<prepared_step>& step,
                                     std::vector<tensor> feeds = {},
                                     std::chrono::milliseconds timeout = std::chrono::seconds{10}) {
    return ask<step_outcome>(session_, step_request{step, std::move(feeds), now() + timeout});
  }

  /// Runs one run of a text to its end.
  result<std::vector<tensor>> play(const text_case& test_case, size_t run_index = 0) {
    auto step = prepare(test_case, run_index);
    if (!step)
      return step.status();
    auto answer = start(*step, feeds_of(test_case.text.runs.at(run_index)));
    run();
    if (!*answer)
      return failure(error_kind::internal, "no answer yet");
    if (!**answer)
      return (*answer)->status();
    auto outcome = ***answer;
    if (!outcome.outcome)
      return outcome.outcome;
    return outcome.fetches;
  }

private:
  caf::actor session_;
};

} // namespace troupe::test
