#include "troupe/runtime/state/file_requests.hpp"

#include <algorithm>
#include <set>

namespace troupe {

template <class Work>
void file_requests::add(request_id who, Work work) {
  auto shared = std::make_shared<file_work>();
  waiting_.push_back({who, next_errand_, shared});
  errands_.push_back({.number = next_errand_++,
                      .work = [shared, work = std::move(work)](file_access& files) -> status {
                        if (shared->unwanted)
                          return failure(error_kind::cancelled, "the step has failed");
                        TROUPE_ASSIGN(shared->made, work(files));
                        return {};
                      }});
}

void file_requests::read(request_id who, std::string path) {
  add(who, [path = std::move(path)](file_access& files) -> result<std::vector<tensor>> {
    TROUPE_ASSIGN(auto content, files.read(path));
    return std::vector{tensor::scalar(std::move(content))};
  });
}

void file_requests::write(request_id who, std::string path, std::string content) {
  add(who,
      [path = std::move(path),
       content = std::move(content)](file_access& files) -> result<std::vector<tensor>> {
        TROUPE_TRY(files.write(path, content));
        return std::vector<tensor>{};
      });
}

void file_requests::match(request_id who, std::vector<std::string> patterns) {
  add(who, [patterns = std::move(patterns)](file_access& files) -> result<std::vector<tensor>> {
    std::set<std::string> all;
    for (const auto& one : patterns) {
      TROUPE_ASSIGN(auto found, files.match(one));
      all.insert(found.begin(), found.end());
    }
    return std::vector{tensor::vector(std::vector<std::string>{all.begin(), all.end()})};
  });
}

void file_requests::cancel(const which_requests& which, const status& why, answers& done) {
  for (auto& one : waiting_)
    if (which(one))
      one.work->unwanted = true;
  give_up(waiting_, which, why, done);
}

void file_requests::reset(const status& why, answers& done) {
  cancel(which_requests::all(), why, done);
}

std::string file_requests::describe() const { return concat(waiting_.size(), " requests wait"); }

void file_requests::take_errands(std::vector<errand>& to) {
  std::ranges::move(errands_, std::back_inserter(to));
  errands_.clear();
}

void file_requests::errand_ended(uint32_t number, status outcome, std::vector<tensor>,
                                 answers& done) {
  auto it = std::ranges::find(waiting_, number, &pending::number);
  if (it == waiting_.end())
    return;
  auto ok = outcome.ok();
  done.push_back(
      {it->who, std::move(outcome), ok ? std::move(it->work->made) : std::vector<tensor>{}});
  waiting_.erase(it);
}

} // namespace troupe
