#include "troupe/runtime/state/file_requests.hpp"

#include <algorithm>
#include <set>

namespace troupe {

template <class Work>
void file_requests::add(request_id request, Work work) {
  auto shared = std::make_shared<file_work>();
  waiting_.push_back({request, next_operation_, shared});
  operations_.push_back({.number = next_operation_++,
                         .work = [shared, work = std::move(work)](file_access& files) -> status {
                           if (shared->unwanted)
                             return failure(error_kind::cancelled, "the step has failed");
                           TROUPE_ASSIGN(shared->outputs, work(files));
                           return {};
                         }});
}

void file_requests::read(request_id request, std::string path) {
  add(request, [path = std::move(path)](file_access& files) -> result<std::vector<tensor>> {
    TROUPE_ASSIGN(auto content, files.read(path));
    return std::vector{tensor::scalar(std::move(content))};
  });
}

void file_requests::write(request_id request, std::string path, std::string content) {
  add(request,
      [path = std::move(path),
       content = std::move(content)](file_access& files) -> result<std::vector<tensor>> {
        TROUPE_TRY(files.write(path, content));
        return std::vector<tensor>{};
      });
}

void file_requests::match(request_id request, std::vector<std::string> patterns) {
  add(request, [patterns = std::move(patterns)](file_access& files) -> result<std::vector<tensor>> {
    std::set<std::string> matches;
    for (const auto& pattern : patterns) {
      TROUPE_ASSIGN(auto paths, files.match(pattern));
      matches.insert(paths.begin(), paths.end());
    }
    return std::vector{tensor::vector(std::vector<std::string>{matches.begin(), matches.end()})};
  });
}

void file_requests::cancel(const request_filter& selected, const status& reason, answers& done) {
  for (auto& request : waiting_)
    if (selected(request))
      request.work->unwanted = true;
  fail_requests(waiting_, selected, reason, done);
}

void file_requests::reset(const status& reason, answers& done) {
  cancel(request_filter::every(), reason, done);
}

std::string file_requests::describe() const { return concat(waiting_.size(), " requests wait"); }

void file_requests::take_operations(std::vector<deferred_operation>& to) {
  std::ranges::move(operations_, std::back_inserter(to));
  operations_.clear();
}

void file_requests::operation_ended(uint32_t number, status outcome, std::vector<tensor>,
                                    answers& done) {
  auto finished = std::ranges::find(waiting_, number, &pending::number);
  if (finished == waiting_.end())
    return;
  auto ok = outcome.ok();
  done.push_back({finished->id, std::move(outcome),
                  ok ? std::move(finished->work->outputs) : std::vector<tensor>{}});
  waiting_.erase(finished);
}

} // namespace troupe
