#include "lhtree/shared/threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <vector>

namespace lhtree {

static constexpr auto poll_every = std::chrono::milliseconds(50);

void Watch::check() {
    if (is_stopped_.load(std::memory_order_relaxed)) throw Stopped();
    if (!poll_ || std::this_thread::get_id() != owner_) return;
    const auto now = Clock::now();
    if (now - last_ < poll_every) return;
    last_ = now;
    if (!poll_(n_done_.load(std::memory_order_relaxed))) {
        stop();
        throw Stopped();
    }
}

void run_on_threads(std::size_t n_tasks, std::size_t n_threads, Watch& watch,
                    const std::function<void(std::size_t)>& task) {
    n_threads = std::min(n_threads, n_tasks);
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable has_ended;
    std::size_t n_running = n_threads - 1;
    std::exception_ptr failure;

    const auto work = [&] {
        try {
            for (std::size_t i = next.fetch_add(1); i < n_tasks; i = next.fetch_add(1)) {
                watch.check();
                task(i);
            }
        } catch (...) {  // rethrown by the calling thread
            {
                const std::lock_guard<std::mutex> lock(mutex);
                if (!failure) failure = std::current_exception();
            }
            watch.stop();  // after storing the error: other threads end with Stopped
        }
    };

    const auto work_and_leave = [&] {
        work();
        const std::lock_guard<std::mutex> lock(mutex);
        --n_running;
        has_ended.notify_one();
    };
    std::vector<std::thread> threads;
    threads.reserve(n_threads - 1);
    try {
        while (threads.size() + 1 < n_threads) threads.emplace_back(work_and_leave);
    } catch (const std::system_error&) {  // no more threads: the existing ones do the work
        const std::lock_guard<std::mutex> lock(mutex);
        n_running -= n_threads - 1 - threads.size();
    }
    work();
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (!has_ended.wait_for(lock, poll_every, [&] { return n_running == 0; })) {
            if (failure) continue;
            lock.unlock();
            try {
                watch.check();
            } catch (const Stopped&) {
                const std::lock_guard<std::mutex> relock(mutex);
                if (!failure) failure = std::current_exception();
            }
            lock.lock();
        }
    }
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lhtree
