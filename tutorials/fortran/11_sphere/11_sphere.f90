! SPDX-License-Identifier: BSD-2-Clause
! 11 Sphere: a spectral model of a rotating atmosphere, and a spherical neural operator in it.
!
! What you learn: how to transform winds to vorticity and divergence and back on any number of processes (solver.f90),
! how to train a network of spherical convolutions while such a model runs, through eight of its steps and the adjoints
! of its transforms (closure.f90, window.f90), and how coefficients of spherical harmonics are stored (flow.f90).
!
! First the solver is compared with an exact solution, the wave of Rossby and Haurwitz. Then a model of many degrees is
! the truth for one of half as many: the closure learns what the missing degrees do, and is used from a start that it has
! never seen, beside the bare model. The numbers do not depend on the number of processes. A closure that was trained in
! PyTorch (../../11_sphere/train.py) is read from its file instead, and gives the numbers that PyTorch gives.
!
!   mpiexec -n 4 fortran_11_sphere
!   mpiexec -n 4 fortran_11_sphere -degrees 22 -train 400 -tenon_log_view
!   mpiexec -n 4 fortran_11_sphere -degrees 11 -closure tutorials/11_sphere/closure.pt2
program sphere
  use mpi_f08
  use spectral_closure
  use spectral_flow
  use spectral_solver
  use spectral_window
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: reports = 4, windows = 5, unseen = 1000, wave_runs = 3
  real(real64), parameter :: step_length = 0.04_real64, damping = 10, learning_rate = 5e-3_real64
  real(real64), parameter :: wave_time = 0.5_real64
  integer :: degrees, training_steps, use_steps, rank, processes, n
  type(tenon_partition) :: line
  type(solver_t) :: truth, coarse
  type(closure_t) :: closure
  type(window_t) :: window
  type(tenon_layer) :: truncation
  type(tenon_dtensor) :: flow ! of the truth
  type(tenon_dtensor) :: samples(0:steps), bare, closed, work
  character(len=:), allocatable :: model

  call declare_int('degrees', '22', 'degrees of the model; the truth has twice as many')
  call declare_int('train', '400', 'training steps')
  call declare_int('use', '40', 'time steps of the comparison')
  call tenon_options_declare('11_sphere', 'closure', TENON_OPTION_STRING, '', &
    'file of a closure from PyTorch, instead of training one')
  call tenon_options_own_command_line()
  call tenon_initialize('11 Sphere: a spectral model with a closure'//new_line('a'))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, processes)
  call tenon_options_get_int('degrees', degrees, prefix='-')
  call tenon_options_get_int('train', training_steps, prefix='-')
  call tenon_options_get_int('use', use_steps, prefix='-')
  call tenon_options_get_string('closure', model, prefix='-')
  call create()
  call check_wave()
  call flow_start(truth, 0, flow)
  call flow_start(coarse, 1, closed) ! a direction
  call run_truth()
  call window_check(window, coarse, closure, samples, closed, rank)
  if (model == '') call train()
  call use_closure()
  call destroy()
  call tenon_finalize()
contains
  subroutine declare_int(name, value, help)
    character(len=*), intent(in) :: name, value, help
    call tenon_options_declare('11_sphere', name, TENON_OPTION_INT, value, help)
  end subroutine declare_int

  subroutine create()
    call tenon_partition_create(MPI_COMM_WORLD, [processes], line)
    call solver_create(line, MPI_COMM_WORLD, 2*degrees, step_length, damping, truth)
    call solver_create(line, MPI_COMM_WORLD, degrees, step_length, damping, coarse)
    call closure_create(coarse, model, steps, closure)
    call window_create(coarse, window)
    call flow_create_truncation(truth, degrees, truncation)
    call solver_create_field(truth, flow)
    call solver_create_field(coarse, bare)
    call solver_create_field(coarse, closed)
    call solver_create_field(coarse, work)
    do n = 0, steps
      call solver_create_field(coarse, samples(n))
    end do
  end subroutine create

  subroutine destroy()
    do n = 0, steps
      call tenon_destroy(samples(n))
    end do
    call tenon_destroy(work)
    call tenon_destroy(closed)
    call tenon_destroy(bare)
    call tenon_destroy(flow)
    call tenon_destroy(truncation)
    call window_destroy(window)
    call closure_destroy(closure)
    call solver_destroy(coarse)
    call solver_destroy(truth)
    call tenon_destroy(line)
  end subroutine destroy

  real(real64) function distance(a, b, difference)
    type(tenon_dtensor), intent(in) :: a, b, difference
    call tenon_dtensor_copy(a, difference)
    call tenon_dtensor_axpby(-1.0_real64, b, 1.0_real64, difference)
    call tenon_dtensor_norm(difference, distance)
  end function distance

  ! The wave for half a turn of the globe, with steps that are halved, without damping.
  subroutine check_wave()
    type(solver_t) :: s
    type(tenon_dtensor) :: z, exact
    real(real64) :: error, before
    integer :: run, step, count
    before = 0
    count = 5
    do run = 1, wave_runs
      call solver_create(line, MPI_COMM_WORLD, degrees, wave_time/count, 0.0_real64, s)
      call solver_create_field(s, z)
      call solver_create_field(s, exact)
      call flow_wave(s, 0.0_real64, z)
      do step = 1, count
        call solver_step(s, z, s%stage)
      end do
      call flow_wave(s, wave_time, exact)
      error = distance(z, exact, s%work)
      if (rank == 0 .and. run == 1) print '(a, i3, 2a)', 'Rossby-Haurwitz wave, ', count, ' steps: error ', &
        scientific(error, 4)
      if (rank == 0 .and. run > 1) print '(a, i3, 3a, f4.2)', 'Rossby-Haurwitz wave, ', count, ' steps: error ', &
        scientific(error, 4), ', order ', log(before/error)/log(2.0_real64)
      before = error
      count = 2*count
      call tenon_destroy(exact)
      call tenon_destroy(z)
      call solver_destroy(s)
    end do
  end subroutine check_wave

  ! samples <- the truth now and after each step of a window, with the model's degrees.
  subroutine run_truth()
    call tenon_layer_apply(truncation, flow, samples(0))
    do n = 1, steps
      call solver_step(truth, flow, truth%stage)
      call tenon_layer_apply(truncation, flow, samples(n))
    end do
  end subroutine run_truth

  subroutine train()
    real(real64) :: loss, total
    integer :: step
    total = 0
    do step = 0, training_steps - 1
      if (mod(step, windows) == 0) call flow_start(truth, step/windows, flow)
      call run_truth()
      call window_forward(window, coarse, closure, samples, loss)
      call window_backward(window, coarse, closure)
      call tenon_optimizer_set_learning_rate(closure%optimizer, learning_rate*(1 - 0.9_real64*step/training_steps))
      call tenon_optimizer_step(closure%optimizer)
      total = total + loss
      if ((step + 1)*reports/training_steps == step*reports/training_steps) cycle
      if (rank == 0) print '(a, i4, 2a)', 'training step ', step + 1, ': loss ', fixed(total*reports/training_steps, 4)
      total = 0
    end do
  end subroutine train

  ! 2.30e-03, as C prints it.
  function scientific(value, digits) result(text)
    real(real64), intent(in) :: value
    integer, intent(in) :: digits
    character(len=digits + 6) :: text
    character(len=12) :: form
    write (form, '(a, i0, a, i0, a)') '(es', digits + 6, '.', digits, 'e2)'
    write (text, form) value
    text(digits + 3:digits + 3) = 'e'
  end function scientific

  ! The model with and without the closure, from a start that was not trained on.
  subroutine use_closure()
    real(real64) :: errors(2)
    integer :: step
    call flow_start(truth, unseen, flow)
    call flow_start(coarse, unseen, bare)
    call flow_start(coarse, unseen, closed)
    if (rank == 0) print '(a)', 'error          bare    closed  closed / bare'
    do step = 1, use_steps
      call solver_step(truth, flow, truth%stage)
      call solver_step(coarse, bare, coarse%stage)
      call solver_step(coarse, closed, coarse%stage)
      call closure_apply(closure, .false., coarse%stage(1), closed)
      if (step*reports/use_steps == (step - 1)*reports/use_steps) cycle
      call tenon_layer_apply(truncation, flow, samples(0))
      errors = [distance(bare, samples(0), work), distance(closed, samples(0), work)]
      if (rank == 0) print '(a, i4, 4a, a, f4.2)', 'step ', step, '  ', scientific(errors(1), 2), '  ', &
        scientific(errors(2), 2), '           ', errors(2)/errors(1)
    end do
    call print_energies()
  end subroutine use_closure

  subroutine print_energies()
    real(real64) :: energy(degrees, 3)
    integer :: l
    call flow_energy(coarse, samples(0), energy(:, 1))
    call flow_energy(coarse, bare, energy(:, 2))
    call flow_energy(coarse, closed, energy(:, 3))
    if (rank == 0) print '(a)', 'degree    energy      bare    closed'
    do l = 2, degrees - 1, 3
      if (rank == 0) print '(i6, 6a)', l, '  ', scientific(energy(l, 1), 2), '  ', scientific(energy(l, 2), 2), '  ', &
        scientific(energy(l, 3), 2)
    end do
  end subroutine print_energies
end program sphere
