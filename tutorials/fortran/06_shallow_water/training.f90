! SPDX-License-Identifier: BSD-2-Clause
! Trains both closures, and writes checkpoints.
module water_training
  use water_experiment
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: train
  integer, parameter :: reports = 4, batch = 2
  ! Learning rates at the start.
  real(real64), parameter :: one_step_rate = 1e-2_real64, in_loop_rate = 5e-3_real64

  type :: training_t
    type(tenon_checkpoint) :: checkpoint ! NULL without -checkpoint
    type(tenon_dtensor) :: flow, samples
    integer :: done        ! training steps of both kinds
    real(real64) :: sum    ! of the errors since the last report
  end type training_t
contains
  ! Trains x%one_step while the truth runs, and x%in_loop, from these weights on, through several steps of the coarse
  ! solver. With -checkpoint continues where the last run has ended. `ended` is true if -stop ended the training.
  subroutine train(x, ended)
    type(experiment_t), intent(inout), target :: x
    logical, intent(out) :: ended
    type(training_t) :: t
    call open_training(x, t)
    ended = .false.
    do while (t%done < x%settings%online + x%settings%in_loop .and. .not. ended)
      if (t%done < x%settings%online) then
        call online_step(x, t, t%done)
      else
        call in_loop_step(x, t, t%done - x%settings%online)
      end if
      call count_step(x, t)
      ended = t%done == x%settings%stop
    end do
    call tenon_destroy(t%checkpoint)
    call tenon_destroy(t%samples)
    call tenon_destroy(t%flow)
  end subroutine train

  ! The state of the training: networks, optimizers, the flow of the truth and its samples, each rank's part from where
  ! it is. Continues from the last checkpoint, if there is one.
  subroutine open_training(x, t)
    type(experiment_t), intent(inout), target :: x
    type(training_t), intent(out) :: t
    integer :: step
    t%done = 0
    t%sum = 0
    if (len(x%settings%checkpoint) == 0) return
    call place_flow(x, t)
    call tenon_checkpoint_create(x%grid%comm, t%checkpoint)
    call tenon_set_from_options(t%checkpoint)
    call tenon_checkpoint_add_layer(t%checkpoint, x%one_step%network, 'one_step')
    call tenon_checkpoint_add_layer(t%checkpoint, x%in_loop%network, 'in_loop')
    call tenon_checkpoint_add_optimizer(t%checkpoint, x%one_step%optimizer, 'one_step')
    call tenon_checkpoint_add_optimizer(t%checkpoint, x%in_loop%optimizer, 'in_loop')
    call tenon_checkpoint_add_tensor(t%checkpoint, t%flow, 'flow')
    call tenon_checkpoint_add_tensor(t%checkpoint, t%samples, 'samples')
    call tenon_checkpoint_read_latest(t%checkpoint, x%settings%checkpoint, step)
    if (step < 0) return
    t%done = step
    call tenon_get_real(t%checkpoint, 'error_sum', t%sum)
    if (x%grid%rank == 0) write (error_unit, '(3a, i0, a)') 'continues from ', x%settings%checkpoint, ' after ', step, &
      ' training steps'
  end subroutine open_training

  ! Tensors on the flow of the truth, and on all samples together, whose last dimension is the batch.
  subroutine place_flow(x, t)
    type(experiment_t), intent(inout), target :: x
    type(training_t), intent(inout) :: t
    type(tenon_layout) :: layout
    associate (g => x%grid, fine => x%truth%solver%grid)
      call tenon_dtensor_create(fine%plain, TENON_FLOAT64, t%flow)
      call tenon_place(t%flow, x%truth%q(1:fine%nx, 1:fine%ny, :), array=x%truth%q)
      call tenon_layout_create_from_boxes(g%comm, [g%x0, g%y0, 1, 1], &
        [g%x0 + g%nx - 1, g%y0 + g%ny - 1, fields, size(x%samples, 4)], layout, &
        shape=[g%cells, g%cells, fields, size(x%samples, 4)])
      call tenon_dtensor_create(layout, TENON_FLOAT64, t%samples)
      call tenon_place(t%samples, x%samples(1:g%nx, 1:g%ny, :, :), array=x%samples)
      call tenon_destroy(layout)
    end associate
  end subroutine place_flow

  ! Counts a training step, and writes a checkpoint every -every steps, after the last and at -stop.
  subroutine count_step(x, t)
    type(experiment_t), intent(in) :: x
    type(training_t), intent(inout) :: t
    t%done = t%done + 1
    if (len(x%settings%checkpoint) == 0) return
    if (modulo(t%done, x%settings%every) /= 0 .and. t%done /= x%settings%online + x%settings%in_loop .and. &
      t%done /= x%settings%stop) return
    call tenon_set_real(t%checkpoint, 'error_sum', t%sum)
    call tenon_checkpoint_write_step(t%checkpoint, x%settings%checkpoint, t%done)
  end subroutine count_step

  ! Forward and backward through `steps` steps from the sample number `first`.
  subroutine learn(x, t, closure, steps, first)
    type(experiment_t), intent(inout) :: x
    type(training_t), intent(inout) :: t
    type(closure_t), intent(inout) :: closure
    integer, intent(in) :: steps, first
    real(real64) :: loss
    call window_forward(x%window, x%solver, closure, steps, x%samples(:, :, :, first), &
      x%samples(:, :, :, first + 1:first + steps), loss)
    call window_backward(x%window, x%solver, closure, steps, .false.)
    t%sum = t%sum + velocity(x%grid, x%window%errors(:, :, :, steps))/batch
  end subroutine learn

  ! An optimizer step with a learning rate that falls from `rate` to 0 like a cosine.
  subroutine update(closure, rate, step, steps)
    type(closure_t), intent(inout) :: closure
    real(real64), intent(in) :: rate
    integer, intent(in) :: step, steps
    real(real64), parameter :: pi = 3.14159265358979323846_real64
    call tenon_optimizer_set_learning_rate(closure%optimizer, rate*(1 + cos(pi*step/steps))/2)
    call tenon_optimizer_step(closure%optimizer)
  end subroutine update

  ! Prints the mean error since the last report, `reports` times in `steps` steps.
  subroutine report(x, t, what, window, step, steps)
    type(experiment_t), intent(in) :: x
    type(training_t), intent(inout) :: t
    character(len=*), intent(in) :: what
    integer, intent(in) :: window, step, steps
    if ((step + 1)*reports/steps == step*reports/steps) return
    if (x%grid%rank == 0) print '(2a, i4, a, i0, 4a)', what, ', training step ', step + 1, ': velocity error after ', &
      window, trim(merge(' steps', ' step ', window > 1)), ' ', scientific(t%sum*reports/steps, 3)
    t%sum = 0
  end subroutine report

  ! Sample number `draw` of the range [0, count): multiples of the golden ratio fill it evenly.
  integer function pick(draw, count)
    integer, intent(in) :: draw, count
    pick = int(modulo(0.6180339887498949_real64*draw, 1.0_real64)*count)
  end function pick

  ! The truth takes a step; the closure learns this step and an earlier one.
  subroutine online_step(x, t, step)
    type(experiment_t), intent(inout) :: x
    type(training_t), intent(inout) :: t
    integer, intent(in) :: step
    if (step == 0) then
      call truth_start(x%truth, training_seed, x%settings%spinup)
      call truth_sample(x%truth, x%grid, x%samples(:, :, :, 0))
    end if
    call truth_step(x%truth)
    call truth_sample(x%truth, x%grid, x%samples(:, :, :, step + 1))
    call learn(x, t, x%one_step, 1, step)
    call learn(x, t, x%one_step, 1, pick(step, step + 1))
    call update(x%one_step, one_step_rate, step, x%settings%online)
    call report(x, t, 'while the truth runs', 1, step, x%settings%online)
  end subroutine online_step

  ! The closure learns several steps of the coarse solver from two of the samples.
  subroutine in_loop_step(x, t, step)
    type(experiment_t), intent(inout) :: x
    type(training_t), intent(inout) :: t
    integer, intent(in) :: step
    integer :: starts
    starts = x%settings%online - longest + 1
    if (step == 0) call closure_copy(x%one_step, x%in_loop)
    call learn(x, t, x%in_loop, longest, pick(2*step, starts))
    call learn(x, t, x%in_loop, longest, pick(2*step + 1, starts))
    call update(x%in_loop, in_loop_rate, step, x%settings%in_loop)
    call report(x, t, 'through the solver', longest, step, x%settings%in_loop)
  end subroutine in_loop_step
end module water_training
