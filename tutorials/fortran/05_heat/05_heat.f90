! SPDX-License-Identifier: BSD-2-Clause
! 05 Heat: a network beside a solver.
!
! What you learn: how to use a solver's ghosted arrays in place; how to train a small convolutional closure while the
! solver runs, and use it in the time step. The result does not depend on the number of processes.
!
! The plate conducts heat and radiates it (heat.f90). The program first runs the full model, and trains the closure to
! reproduce the radiation (closure.f90). Then, from a cold plate and with the hot spot in another place, it runs the full
! model, conduction alone, and conduction with the closure, and prints the error of the last two.
!
!   mpiexec -n 4 fortran_05_heat
!   mpiexec -n 4 fortran_05_heat -train 8000 -tenon_learning_rate 0.01
program coupled_heat
  use closure
  use heat
  use tenon
  implicit none
  real(real64), parameter :: step_length = 0.2_real64, later = 40
  integer, parameter :: reports = 4
  real(real64), allocatable, target :: truth(:, :), bare(:, :), closed(:, :)
  real(real64), allocatable, target :: tendency(:, :), radiated(:, :), answer(:, :)
  integer :: training_steps, use_steps

  call tenon_options_declare('05_heat', 'train', TENON_OPTION_INT, '4000', &
    'time steps of the full model with one training step each')
  call tenon_options_declare('05_heat', 'use', TENON_OPTION_INT, '400', 'time steps of the three models')
  call tenon_options_own_command_line()
  call tenon_initialize('05 Heat: a network beside a solver'//new_line('a'))
  call tenon_options_get_int('train', training_steps, prefix='-')
  call tenon_options_get_int('use', use_steps, prefix='-')
  call heat_create(MPI_COMM_WORLD)
  call create_field(truth)
  call create_field(bare)
  call create_field(closed)
  call create_field(tendency)
  call create_field(radiated)
  call create_field(answer)
  call closure_create()
  call train()
  call use_closure()
  call closure_destroy()
  call MPI_Comm_free(plate)
  call tenon_finalize()
contains
  ! One step of the full model. radiated then holds the radiation before the step.
  subroutine step_truth(time)
    real(real64), intent(in) :: time
    call exchange(truth)
    call conduction(truth, time, tendency)
    call radiation(truth, radiated)
    call add(truth, step_length, tendency)
    call add(truth, step_length, radiated)
  end subroutine step_truth

  subroutine train()
    real(real64) :: error, total
    integer :: step
    total = 0
    do step = 1, training_steps
      call exchange(truth)
      call radiation(truth, radiated)
      call closure_train(truth, radiated, answer, error)
      call step_truth(step_length*step)
      total = total + error
      if (modulo(step*reports, training_steps) < reports) then
        if (rank == 0) print '(a, i4, 2a)', 'training, step ', step, ': error of the closure ', &
          scientific(total*reports/training_steps)
        total = 0
      end if
    end do
  end subroutine train

  ! All three models from a cold plate.
  subroutine use_closure()
    real(real64) :: time, errors(2)
    integer :: step
    truth = 0
    do step = 1, use_steps
      time = later + step_length*step
      call step_truth(time)
      call exchange(bare)
      call conduction(bare, time, tendency)
      call add(bare, step_length, tendency)

      call exchange(closed)
      call conduction(closed, time, tendency)
      call closure_apply(closed, answer)
      call add(closed, step_length, tendency)
      call add(closed, step_length, answer)

      if (modulo(step*reports, use_steps) < reports) then
        errors = [distance(truth, bare), distance(truth, closed)]
        if (rank == 0) print '(a, i4, 4a)', 'use, step ', step, ': error without closure ', scientific(errors(1)), &
          ', with closure ', scientific(errors(2))
      end if
    end do
  end subroutine use_closure

  ! 1.17e-02, as C prints it.
  function scientific(value) result(text)
    real(real64), intent(in) :: value
    character(len=8) :: text
    write (text, '(es8.2e2)') value
    text(5:5) = 'e'
  end function scientific
end program coupled_heat
