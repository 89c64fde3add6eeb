// Threads that live for one call, and the watch that can stop it.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>

namespace lhtree {

// Thrown when the watch stops the work.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped"; }
};

// Long loops call check() at least every few milliseconds. In the thread that created the watch it calls
// `poll` now and then (Python: signals, progress). After it returned false, check() throws Stopped.
class Watch {
  public:
    using Poll = std::function<bool(std::size_t n_done)>;  // false: stop

    Watch() = default;
    explicit Watch(Poll poll) : poll_(std::move(poll)), last_(Clock::now()) {}

    void check();
    // Counts a finished task for `poll`.
    void finish_one() { n_done_.fetch_add(1, std::memory_order_relaxed); }
    void stop() { is_stopped_.store(true, std::memory_order_relaxed); }

  private:
    using Clock = std::chrono::steady_clock;
    Poll poll_;
    std::thread::id owner_ = std::this_thread::get_id();
    Clock::time_point last_;
    std::atomic<std::size_t> n_done_{0};
    std::atomic<bool> is_stopped_{false};
};

void run_on_threads(std::size_t n_tasks, std::size_t n_threads, Watch& watch,
                    const std::function<void(std::size_t)>& task);

// Runs task(0) … task(n_tasks - 1) on up to n_threads threads including this one. The first exception stops
// the other tasks and is rethrown here.
template <class Task>
void run(std::size_t n_tasks, std::size_t n_threads, Watch& watch, const Task& task) {
    if (n_threads > 1 && n_tasks > 1) return run_on_threads(n_tasks, n_threads, watch, std::cref(task));
    for (std::size_t i = 0; i < n_tasks; ++i) {  // creating a std::function takes longer than scoring one row
        if (i > 0) watch.check();                // reading the clock takes longer than some tasks
        task(i);
    }
}

}  // namespace lhtree
